"""What spoils the checks of ``ops/conform/checks/delivery.py``."""

from ops.client.stream import Message
from ops.conform.checks import delivery
from tests.conformance.sabotage import Call, spoils_message


@spoils_message(delivery.notification_is_sent_once)
def report_twice(call: Call, message: Message) -> list[Message]:
    return [message, message] if message.get("method") == "notifications/progress" else [message]
