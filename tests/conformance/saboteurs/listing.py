"""What spoils the checks of ``ops/conform/checks/listing.py``."""

from ops.client.stream import Message
from ops.conform.checks import listing
from tests.conformance.sabotage import Answer, Call, SpoilMessage, spoils_message, spoils_request


@spoils_message(listing.pages_hold_all_tasks, says="on no page")
def lose_every_second(call: Call, message: Message) -> Message:
    if call.method == "tasks/list":
        del message["result"]["tasks"][::2]  # of which some at least were made by the check
    return message


@spoils_message(listing.pages_hold_all_tasks, says="more than once")
def begin_with_the_last(call: Call, message: Message) -> Message:
    if call.method == "tasks/list":
        tasks = message["result"]["tasks"]
        tasks[:0] = call.memory.get("last", []) if "cursor" in call.params else []
        call.memory["last"] = tasks[-1:]
    return message


@spoils_message(listing.pages_hold_all_tasks, says="on no page")
def end_after_a_page(call: Call, message: Message) -> Message:
    if call.method == "tasks/list" and call.node == 1:
        message["result"].pop("nextCursor", None)
    return message


@spoils_request(listing.pages_hold_while_tasks_are_created, says="more than once")
async def count_from_the_newest(call: Call) -> Answer | None:
    """Pages as of a server whose cursor is an offset: what is created moves them."""
    if call.method != "tasks/list":
        return None
    tasks: list[Message] = []
    params: Message = {}
    for _ in range(100):
        page = (await call.ask("tasks/list", params))["result"]
        tasks += page["tasks"]
        if "nextCursor" not in page:
            break
        params = {"cursor": page["nextCursor"]}
    begin = int(call.params.get("cursor", 0))
    following = {"nextCursor": str(begin + 20)} if begin + 20 < len(tasks) else {}
    return call.result({"tasks": tasks[begin : begin + 20], **following})


@spoils_message(listing.next_cursor_is_absent_at_the_end)
def end_with_null(call: Call, message: Message) -> Message:
    if call.method == "tasks/list":
        message["result"].setdefault("nextCursor", None)
    return message


@spoils_request(listing.next_cursor_is_absent_at_the_end, says="no end")
def have_no_end(call: Call) -> Answer | None:
    return call.result({"tasks": [], "nextCursor": "on"}) if call.method == "tasks/list" else None


@spoils_message(listing.listed_when_created)
def list_the_newest_late(call: Call, message: Message) -> Message:
    if call.method == "tasks/list" and "cursor" not in call.params and call.node == 1:
        message["result"]["tasks"] = message["result"]["tasks"][1:]
    return message


def list_as(old: str, new: str) -> SpoilMessage:
    """Lists tasks in a status that they do not have."""

    def spoil(call: Call, message: Message) -> Message:
        for task in message.get("result", {}).get("tasks", []):
            task["status"] = new if task["status"] == old else task["status"]
        return message

    spoil.__name__ = f"list_{old}_as_{new}"
    return spoil


spoils_message(listing.listed_when_created)(list_as("working", "completed"))
for _status in ("completed", "failed", "cancelled"):
    spoils_message(listing.listed_when_ended)(list_as(_status, "working"))
spoils_message(listing.listed_when_input_is_required)(list_as("input_required", "working"))


@spoils_message(listing.listed_when_ended)
def list_open_ones_alone(call: Call, message: Message) -> Message:
    if call.method == "tasks/list":
        tasks = message["result"]["tasks"]
        message["result"]["tasks"] = [task for task in tasks if task["status"] in ("working", "input_required")]
    return message


@spoils_request(listing.bad_cursors)
def begin_again_with_garbage(call: Call) -> None:
    if call.method == "tasks/list" and isinstance(call.params.get("cursor"), str):
        call.message = call.message | {"params": {}}


@spoils_request(listing.bad_cursors)
def take_the_empty_for_none(call: Call) -> None:
    if call.method == "tasks/list" and call.params.get("cursor") == "":
        call.message = call.message | {"params": {}}


@spoils_request(listing.bad_cursors)
def stumble_over_types(call: Call) -> Answer | None:
    is_text = isinstance(call.params.get("cursor", ""), str)
    return call.error(-32603) if call.method == "tasks/list" and not is_text else None
