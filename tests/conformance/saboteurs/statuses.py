"""What spoils the checks of ``ops/conform/checks/statuses.py``."""

from ops.client.stream import Message
from ops.conform.checks import statuses
from tests.conformance.sabotage import Answer, Call, spoils_message, spoils_request
from tests.conformance.shown import is_outcome, show_as, tasks_in


@spoils_message(statuses.statuses_of_work, says="running")
def say_running(call: Call, message: Message) -> Message:
    return replace_status(call, message, "working", "running")


@spoils_message(statuses.statuses_of_work, says="it asked for nothing")
def say_input_required(call: Call, message: Message) -> Message:
    return replace_status(call, message, "working", "input_required")


@spoils_message(statuses.statuses_of_questions, says="waiting")
def say_waiting(call: Call, message: Message) -> Message:
    return replace_status(call, message, "input_required", "waiting")


@spoils_message(statuses.statuses_of_questions, says="in the end")
def fail_with_the_answer(call: Call, message: Message) -> Message:
    return replace_status(call, message, "completed", "failed")


@spoils_message(statuses.terminal_on_every_node)
def lag_on_the_other_node(call: Call, message: Message) -> Message:
    return show_as(call, message, "tasks/get", node=1, status="working")


@spoils_message(statuses.terminal_on_every_node)
def touch_what_is_over(call: Call, message: Message) -> Message:
    return show_as(call, message, "tasks/get", node=1, lastUpdatedAt="2099-01-01T00:00:00Z")


@spoils_message(statuses.late_cancel_changes_nothing, says="`status` as before")
def cancel_what_is_over(call: Call, message: Message) -> Message:
    call.memory["cancelled"] = call.memory.get("cancelled") or call.method == "tasks/cancel"
    return show_as(call, message, "tasks/get", status="cancelled") if call.memory["cancelled"] else message


@spoils_message(statuses.late_cancel_changes_nothing, says="the result as before")
def drop_the_result(call: Call, message: Message) -> Message:
    call.memory["cancelled"] = call.memory.get("cancelled") or call.method == "tasks/cancel"
    if is_outcome(call, message) and call.memory["cancelled"]:
        message["result"]["content"] = []
    return message


@spoils_request(statuses.late_answer_changes_nothing)
async def bring_it_back_to_life(call: Call) -> Answer | None:
    if call.method is None and "result" in call.message:
        call.memory["answered"] = True
    if call.method != "tasks/get" or not call.memory:
        return None
    return Answer.json(show_as(call, await call.forward(), "tasks/get", status="completed"))


@spoils_message(statuses.cancel_meets_the_end)
def complete_what_was_cancelled(call: Call, message: Message) -> Message:
    return replace_status(call, message, "cancelled", "completed")


@spoils_request(statuses.cancel_meets_the_end)
async def refuse_and_cancel_it_all_the_same(call: Call) -> Answer | None:
    if call.method != "tasks/cancel":
        return None
    await call.forward()
    return call.error(-32602)


@spoils_message(statuses.notification_shows_the_task)
def leave_ttl_out(call: Call, message: Message) -> Message:
    if message.get("method") == "notifications/tasks/status":
        message["params"].pop("ttl")
    return message


@spoils_message(statuses.notification_shows_the_task)
def wrap_the_task(call: Call, message: Message) -> Message:
    if message.get("method") == "notifications/tasks/status":
        message["params"] = {"task": message["params"]}
    return message


def replace_status(call: Call, message: Message, status: str, other: str) -> Message:
    shown = [task["status"] for task in tasks_in(message)]
    return show_as(call, message, "tasks/get", status=other) if shown == [status] else message
