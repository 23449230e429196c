"""What spoils the checks of ``ops/conform/checks/cancellation.py``."""

from ops.client.stream import Message
from ops.conform.checks import cancellation
from tests.conformance.sabotage import Answer, Call, spoils_message, spoils_request


@spoils_request(cancellation.terminal_is_refused)
def acknowledge(call: Call) -> Answer | None:
    return call.result({}) if call.method == "tasks/cancel" else None


@spoils_request(cancellation.failed_is_refused)
def acknowledge_for_failed(call: Call) -> Answer | None:
    return call.result({}) if call.method == "tasks/cancel" else None


@spoils_request(cancellation.cancelled_is_refused, says="came: HTTP 200")
async def acknowledge_again(call: Call) -> Answer | None:
    if call.method != "tasks/cancel":
        return None
    if "told" not in call.memory:
        call.memory["told"] = (await call.forward())["result"]
    return call.result(call.memory["told"])


@spoils_message(cancellation.refused_cancel_changes_nothing, says="the task as it was")
def cancel_what_is_completed(call: Call, message: Message) -> Message:
    call.memory["refused"] = call.memory.get("refused") or call.method == "tasks/cancel"
    if call.method == "tasks/get" and call.memory["refused"]:
        message["result"]["status"] = "cancelled"
    return message


@spoils_message(cancellation.refused_cancel_changes_nothing, says="the result as it was")
def drop_the_result(call: Call, message: Message) -> Message:
    call.memory["refused"] = call.memory.get("refused") or call.method == "tasks/cancel"
    if call.method == "tasks/result" and call.memory["refused"]:
        message["result"]["content"] = []
    return message


@spoils_message(cancellation.cancelled_at_once)
def say_working(call: Call, message: Message) -> Message:
    if call.method == "tasks/cancel" and "result" in message:
        message["result"]["status"] = "working"
    return message


@spoils_message(cancellation.cancelled_at_once)
def lag_on_the_other_node(call: Call, message: Message) -> Message:
    if call.method == "tasks/get" and call.node == 1:
        message["result"]["status"] = "working"
    return message


@spoils_message(cancellation.cancel_answers_with_the_task)
def name_no_task(call: Call, message: Message) -> Message:
    if call.method == "tasks/cancel" and "result" in message:
        del message["result"]["taskId"]
    return message


@spoils_message(cancellation.cancel_answers_with_the_task, says="`createdAt` as in")
def begin_a_new_life(call: Call, message: Message) -> Message:
    if call.method == "tasks/cancel" and "result" in message:
        message["result"]["createdAt"] = "2020-01-01T00:00:00Z"
    return message


@spoils_message(cancellation.cancel_answers_with_the_task, says="`ttl` as in")
def leave_the_ttl_out(call: Call, message: Message) -> Message:
    if call.method == "tasks/cancel" and "result" in message:
        del message["result"]["ttl"]
    return message


@spoils_message(cancellation.cancelled_while_it_asks)
def wait_for_the_answer(call: Call, message: Message) -> Message:
    if call.method == "tasks/get" and message["result"]["status"] == "cancelled":
        message["result"]["status"] = "input_required"
    return message


@spoils_message(cancellation.cancel_stops_the_work, patience=4, says="tick to stop")
def count_on(call: Call, message: Message) -> Message:
    blocks = message.get("result", {}).get("content") or [{}]
    if call.method == "tools/call" and "text" in blocks[0]:
        call.memory["count"] = call.memory.get("count", 0) + 10
        blocks[0]["text"] = str(call.memory["count"])
    return message


@spoils_message(cancellation.cancelled_whatever_comes)
def complete_after_all(call: Call, message: Message) -> Message:
    if call.method == "tasks/get" and message["result"]["status"] == "cancelled":
        message["result"]["status"] = "completed"
    return message


@spoils_message(cancellation.cancelled_whatever_comes, says="no outcome of the work")
def keep_the_outcome(call: Call, message: Message) -> Message:
    if call.method == "tasks/result":
        content = [{"type": "text", "text": "slept 1 s"}]
        return {"jsonrpc": "2.0", "id": message["id"], "result": {"content": content}}
    return message


@spoils_message(cancellation.notification_cancels_no_task)
async def take_it_for_the_task(call: Call, message: Message) -> Message:
    if "task" in message.get("result", {}):
        await call.ask("tasks/cancel", {"taskId": message["result"]["task"]["taskId"]})
    return message


@spoils_request(cancellation.notification_cancels_no_task, says="HTTP status 202")
def refuse_it(call: Call) -> Answer | None:
    return Answer(400) if call.method == "notifications/cancelled" else None
