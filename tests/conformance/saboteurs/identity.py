"""What spoils the checks of ``ops/conform/checks/identity.py``."""

from itertools import count

from ops.client.stream import Message
from ops.conform.checks import identity
from tests.conformance.sabotage import Answer, Call, spoils_message, spoils_request

ALICE = "Bearer alice-token"


@spoils_request(identity.anonymous_ids_are_random)
def serve_anybody_with_numbers(call: Call) -> Answer | None:
    call.headers.setdefault("authorization", ALICE)
    return _number(call) if call.method == "tools/call" else None


@spoils_request(identity.ids_are_random)
def count_tasks(call: Call) -> Answer | None:
    return _number(call) if call.method == "tools/call" else None


@spoils_message(identity.ids_are_random)
def count_behind_a_random_start(call: Call, message: Message) -> Message:
    if "task" in message.get("result", {}):
        task = message["result"]["task"]
        start = call.memory.setdefault("start", task["taskId"])
        task["taskId"] = f"{start}{next(call.memory.setdefault('count', count(1000)))}"
    return message


@spoils_message(identity.ids_are_random)
def give_the_time(call: Call, message: Message) -> Message:
    if "task" in message.get("result", {}):
        task = message["result"]["task"]
        task["taskId"] = f"task-{task['createdAt']}"
    return message


@spoils_request(identity.no_list_for_nobody)
def serve_anybody(call: Call) -> None:
    call.headers.setdefault("authorization", ALICE)


@spoils_request(identity.no_list_for_nobody, says="a JSON-RPC error")
def hide_the_list(call: Call) -> Answer | None:
    if call.method == "initialize":
        return call.result({"protocolVersion": "2025-11-25", "capabilities": {"tasks": {}}})
    return call.result({"tasks": []}) if call.method == "tasks/list" else Answer(202)


def _number(call: Call) -> Answer:
    number = next(call.memory.setdefault("count", count(1)))
    return call.result({"task": {"taskId": f"task-{number:08}", "status": "working"}})
