"""What spoils the checks of ``ops/conform/checks/ttl.py``."""

import asyncio

from ops.client.stream import Message
from ops.conform.checks import ttl
from tests.conformance.sabotage import Answer, Call, spoils_message, spoils_request
from tests.conformance.shown import GONE, show_as, tasks_in


@spoils_message(ttl.ttl_everywhere, says="tools/call")
def leave_ttl_out_of_creation(call: Call, message: Message) -> Message:
    return show_as(call, message, "tools/call", ttl=GONE)


@spoils_message(ttl.ttl_everywhere, says="tasks/list")
def list_ttl_as_text(call: Call, message: Message) -> Message:
    return show_as(call, message, "tasks/list", ttl="1h")


@spoils_message(ttl.ttl_is_one)
def count_down(call: Call, message: Message) -> Message:
    return show_as(call, message, "tasks/get", ttl=ttl.LONG - 1)


@spoils_request(ttl.odd_ttl, says="above 0")
async def grant_what_is_asked(call: Call) -> Answer | None:
    if call.method != "tools/call":
        return None
    asked = call.params["task"]["ttl"]
    call.message = call.message | {"params": call.params | {"task": {}}}
    return Answer.json(show_as(call, await call.forward(), "tools/call", ttl=asked))


@spoils_request(ttl.odd_ttl, says="-32603")
def stumble_over_fractions(call: Call) -> Answer | None:
    return call.error(-32603) if call.params.get("task", {}).get("ttl") == 1.5 else None


@spoils_message(ttl.huge_ttl)
def tell_another_one_later(call: Call, message: Message) -> Message:
    return show_as(call, message, "tasks/get", ttl=2**31 - 1)


@spoils_request(ttl.null_ttl)
def stumble_over_null(call: Call) -> Answer | None:
    return call.error(-32603) if call.params.get("task") == {"ttl": None} else None


@spoils_request(ttl.ttl_is_no_number)
def overlook_the_ttl(call: Call) -> None:
    if call.method == "tools/call":
        call.message = call.message | {"params": call.params | {"task": {}}}


@spoils_message(ttl.expired_is_unknown, says="tasks/result")
def be_at_a_loss(call: Call, message: Message) -> Message:
    if call.method == "tasks/result":
        message["error"]["code"] = -32603
    return message


@spoils_message(ttl.expired_is_not_listed)
def list_what_is_gone(call: Call, message: Message) -> Message:
    if call.method == "tools/call":
        call.memory["created"] = tasks_in(message)
    if call.method == "tasks/list":
        message["result"]["tasks"] += call.memory["created"]
    return message


@spoils_message(ttl.kept_for_its_ttl)
def clear_all_at_once(call: Call, message: Message) -> Message:
    gone = {"error": {"code": -32602, "message": "Task not found"}}
    if call.method == "tasks/get" and "error" in message:
        call.memory["cleared"] = True
    elif call.method == "tasks/get" and call.memory:
        return {"jsonrpc": "2.0", "id": message["id"], **gone}
    return message


@spoils_request(ttl.waiter_at_expiry, patience=4, says="the answer to POST tasks/result")
async def forget_who_waits(call: Call) -> None:
    if call.method == "tasks/result":
        await asyncio.Event().wait()
