"""What spoils the checks of ``ops/conform/checks/cancellation.py``."""

from ops.conform.checks import cancellation
from ops.conform.stream import Message
from tests.conformance.sabotage import Answer, Call, spoils_message, spoils_request


@spoils_request(cancellation.terminal_is_refused)
def acknowledge(call: Call) -> Answer | None:
    return call.result({}) if call.method == "tasks/cancel" else None


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
