"""What spoils the checks of ``ops/conform/checks/isolation.py``."""

from ops.client.stream import Message
from ops.conform.checks import isolation
from tests.conformance.sabotage import Answer, Call, spoils_message, spoils_request

ALICE, BOB = "Bearer alice-token", "Bearer bob-token"


def take_for_alice(call: Call, *methods: str) -> None:
    """Lets Bob ask as Alice."""
    if call.headers["authorization"] == ALICE:
        call.memory["session"] = call.headers.get("mcp-session-id")
    elif call.method in methods:
        call.headers |= {"authorization": ALICE, "mcp-session-id": call.memory["session"]}


@spoils_request(isolation.foreign_task_is_refused, says='"status": "working"')
def take_bob_for_alice(call: Call) -> None:
    take_for_alice(call, "tasks/get")


@spoils_request(isolation.foreign_result_is_refused, says="a secret")
def show_bob_the_result(call: Call) -> None:
    take_for_alice(call, "tasks/result")


@spoils_request(isolation.foreign_is_unknown)
async def tell_what_is_forbidden(call: Call) -> Answer | None:
    if call.headers["authorization"] == ALICE and call.method == "tools/call":
        answer = await call.forward()
        call.memory["task"] = answer["result"]["task"]["taskId"]
        return Answer.json(answer)
    is_foreign = call.method == "tasks/cancel" and call.params["taskId"] == call.memory["task"]
    return call.error(-32602, "Not your task") if is_foreign and call.headers["authorization"] == BOB else None


@spoils_request(isolation.foreign_tasks_are_not_listed)
def list_alices_for_bob(call: Call) -> None:
    if call.node == 0:
        take_for_alice(call, "tasks/list")
    elif call.headers["authorization"] == BOB and call.method == "tasks/list":
        call.headers |= {"authorization": ALICE, "mcp-session-id": call.memory["session"]}


@spoils_request(isolation.foreign_cursor_shows_nothing)
def turn_alices_pages_for_bob(call: Call) -> None:
    take_for_alice(call, "tasks/list")


@spoils_message(isolation.others_hear_nothing)
def tell_bob_too(call: Call, message: Message) -> list[Message]:
    if call.headers["authorization"] == ALICE and message.get("method") == "elicitation/create":
        call.memory["asked"] = message
    if call.headers["authorization"] == BOB and call.verb == "GET" and "asked" in call.memory:
        return [call.memory.pop("asked"), message]
    return [message]


@spoils_message(isolation.others_hear_nothing)
def tell_bob_of_progress(call: Call, message: Message) -> Message:
    if call.headers["authorization"] == BOB and message.get("method") == "notifications/progress":
        message["params"]["progressToken"] = "owner"
    return message


@spoils_request(isolation.outlives_its_session)
def end_tasks_with_the_session(call: Call) -> Answer | None:
    call.memory["ended"] = call.memory.get("ended") or call.verb == "DELETE"
    return call.error(-32602) if call.memory["ended"] and call.method == "tasks/get" else None
