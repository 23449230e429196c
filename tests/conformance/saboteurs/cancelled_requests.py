"""What spoils the checks of ``ops/conform/checks/cancelled_requests.py``."""

from ops.client.stream import Message
from ops.conform.checks import cancelled_requests
from tests.conformance.sabotage import Answer, Call, spoils_message, spoils_request
from tests.conformance.saboteurs.sessions import cancel_tasks, note_task

CANCELLED = "notifications/cancelled"


@spoils_request(cancelled_requests.cancelled_wait_ends, says="which was cancelled", patience=3)
def wait_on(call: Call) -> Answer | None:
    return Answer(202) if call.method == CANCELLED else None


@spoils_request(cancelled_requests.cancelled_wait_ends, says="no response")
def answer_with_an_error(call: Call) -> Answer | None:
    return call.error(-32800) if call.method == "tasks/result" else None


@spoils_request(cancelled_requests.task_goes_on_uncancelled)
async def cancel_the_task_too(call: Call) -> Answer | None:
    if call.method == CANCELLED:
        await cancel_tasks(call)
    return await note_task(call)


@spoils_message(cancelled_requests.task_goes_on_uncancelled)
def say_cancelled(call: Call, message: Message) -> Message:
    if call.method == "tasks/get":
        message["result"]["status"] = "cancelled"
    return message


@spoils_request(cancelled_requests.cancelled_call_stops, says="tick went on", patience=20)
def go_on(call: Call) -> Answer | None:
    return Answer(202) if call.method == CANCELLED else None


@spoils_request(cancelled_requests.cancelled_call_is_not_answered, says="no response", patience=20)
def go_on_and_answer(call: Call) -> Answer | None:
    return Answer(202) if call.method == CANCELLED else None


@spoils_request(cancelled_requests.cancelled_in_vain, says="HTTP 500")
def break_down(call: Call) -> Answer | None:
    return Answer(500) if call.method == CANCELLED and call.params.get("requestId") is None else None


@spoils_request(cancelled_requests.cancelled_in_vain, says="nobody cancelled")
def cancel_the_last_request(call: Call) -> None:
    if call.method == "tasks/result":
        call.memory["last"] = call.message["id"]
    elif call.method == CANCELLED and "last" in call.memory:
        call.message = call.message | {"params": {"requestId": call.memory["last"]}}


@spoils_request(cancelled_requests.cancelled_by_another_session)
def overlook_the_session(call: Call) -> None:
    if call.method == "tasks/result":
        call.memory["session"] = call.headers["mcp-session-id"]
    elif call.method == CANCELLED and "session" in call.memory:
        call.headers["mcp-session-id"] = call.memory["session"]
