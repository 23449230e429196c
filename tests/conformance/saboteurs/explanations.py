"""What spoils the checks of ``ops/conform/checks/explanations.py``."""

from ops.client.stream import Message
from ops.conform.checks import explanations
from tests.conformance.sabotage import Call, spoils_message


@spoils_message(explanations.status_message_while_working, patience=3)
def keep_it_to_the_end(call: Call, message: Message) -> Message:
    if call.method == "tasks/get" and message["result"]["status"] == "working":
        message["result"].pop("statusMessage", None)
    return message


@spoils_message(explanations.status_message_is_text)
def explain_by_an_object(call: Call, message: Message) -> Message:
    if call.method == "tasks/get" and message["result"]["status"] == "failed":
        message["result"]["statusMessage"] = {"text": message["result"]["statusMessage"]}
    return message


@spoils_message(explanations.status_message_is_text)
def explain_by_null(call: Call, message: Message) -> Message:
    if call.method == "tasks/cancel":
        message.get("result", {})["statusMessage"] = None
    return message
