"""What spoils the checks of ``ops/conform/checks/limits.py``."""

from ops.client.stream import Message
from ops.conform.checks import limits
from tests.conformance.sabotage import Answer, Call, spoils_message, spoils_request


def is_over(call: Call, method: str) -> bool:
    """Whether more than ten requests with this method came; the server's own limit would last, in the way of others."""
    call.memory["count"] = call.memory.get("count", 0) + (call.method == method)
    return call.method == method and call.memory["count"] > 10


@spoils_request(limits.burst_is_limited, says="HTTP status 429")
def have_no_message(call: Call) -> Answer | None:
    return call.error(-32603, "") if is_over(call, "tasks/get") else None


@spoils_request(limits.burst_is_limited, says="HTTP status 429")
def fall_over(call: Call) -> Answer | None:
    return Answer.json({"detail": "Internal Server Error"}, 500) if is_over(call, "tasks/get") else None


@spoils_request(limits.burst_is_limited, says="an end of the limit", patience=3)
def lock_out(call: Call) -> Answer | None:
    return Answer(429) if is_over(call, "tasks/get") else None


@spoils_request(limits.burst_is_limited, says="as before the limit")
def fail_what_was_there(call: Call) -> Answer | None:
    if not is_over(call, "tasks/get"):
        return None
    if call.params["taskId"].startswith("no-such-task"):
        return Answer(429) if call.memory["count"] <= 20 else call.error(-32602)
    return call.result({"taskId": call.params["taskId"], "status": "failed"})


@spoils_message(limits.open_tasks_are_limited, says="HTTP status 429", patience=30)
def say_unknown_tool(call: Call, message: Message) -> Message:
    if call.method == "tools/call" and "error" in message:
        message["error"]["code"] = -32602
    return message


@spoils_request(limits.open_tasks_are_limited, says="`working`")
def make_room(call: Call) -> Answer | None:
    if call.method == "tasks/get":
        return call.result({"taskId": call.params["taskId"], "status": "cancelled"})
    return Answer(429) if is_over(call, "tools/call") else None


@spoils_request(limits.open_tasks_are_limited, says="a task to be accepted", patience=5)
def count_what_has_ended(call: Call) -> Answer | None:
    return Answer(429) if is_over(call, "tools/call") else None


@spoils_message(limits.huge_ttl_is_clamped)
def grant_any_ttl(call: Call, message: Message) -> Message:
    if "task" in message.get("result", {}):
        message["result"]["task"]["ttl"] = call.params["task"]["ttl"]
    return message


@spoils_message(limits.huge_ttl_is_clamped)
def keep_it_for_ever_after_all(call: Call, message: Message) -> Message:
    if call.method == "tasks/get":
        message["result"]["ttl"] = None
    return message


@spoils_message(limits.no_ttl_is_unlimited)
def keep_for_ever_without(call: Call, message: Message) -> Message:
    if "task" in message.get("result", {}) and "ttl" not in call.params["task"]:
        message["result"]["task"]["ttl"] = None
    return message


@spoils_message(limits.no_ttl_is_unlimited)
def grant_null(call: Call, message: Message) -> Message:
    if "task" in message.get("result", {}) and "ttl" in call.params["task"]:
        message["result"]["task"]["ttl"] = None
    return message


@spoils_message(limits.expired_is_gone, says="to be gone", patience=4)
def keep_it(call: Call, message: Message) -> Message:
    if call.method == "tasks/get" and "result" in message:
        call.memory["task"] = message["result"]
    elif call.method == "tasks/get":
        return {"jsonrpc": "2.0", "id": message["id"], "result": call.memory["task"]}
    return message


@spoils_message(limits.expired_is_gone, says="tasks/list still has")
def list_ghosts(call: Call, message: Message) -> Message:
    if "task" in message.get("result", {}):
        call.memory["task"] = message["result"]["task"]
    if call.method == "tasks/list":
        message["result"]["tasks"].append(call.memory["task"])
    return message


@spoils_request(limits.expired_is_gone, says="a JSON-RPC error")
def keep_the_result(call: Call) -> Answer | None:
    return call.result({"content": []}) if call.method == "tasks/result" else None
