"""What spoils the checks of ``ops/conform/checks/elicitation.py``."""

from ops.client.stream import Message
from ops.conform.checks import elicitation
from tests.conformance.sabotage import Answer, Call, spoils_message, spoils_request


@spoils_message(elicitation.becomes_input_required, patience=3)
def say_working(call: Call, message: Message) -> Message:
    if call.method == "tasks/get" and message["result"]["status"] == "input_required":
        message["result"]["status"] = "working"
    return message


@spoils_message(elicitation.question_names_its_task)
def leave_meta_out(call: Call, message: Message) -> Message:
    if message.get("method") == "elicitation/create":
        message["params"].pop("_meta")
    return message


@spoils_request(elicitation.goes_on_when_answered, patience=3)
def lose_the_answer(call: Call) -> Answer | None:
    return Answer(202) if call.verb == "POST" and "result" in call.message else None
