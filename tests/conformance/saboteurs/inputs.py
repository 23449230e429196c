"""What spoils the checks of ``ops/conform/checks/inputs.py``."""

from ops.client.stream import Message
from ops.conform.checks import inputs
from tests.conformance.sabotage import Answer, Call, spoils_message, spoils_request
from tests.conformance.shown import is_outcome, show_as


@spoils_message(inputs.input_required_on_every_node)
def lag_on_the_other_node(call: Call, message: Message) -> Message:
    return show_as(call, message, "tasks/get", node=1, status="working")


@spoils_request(inputs.get_without_stream_while_asking)
async def stream_it(call: Call) -> Answer | None:
    return Answer.stream(await call.forward()) if call.method == "tasks/get" else None


@spoils_message(inputs.late_waiter_is_asked, patience=3, says="elicitation/create")
def ask_nobody(call: Call, message: Message) -> Message | None:
    return None if message.get("method") == "elicitation/create" else message


@spoils_message(inputs.asks_again, patience=4, says="elicitation/create")
def ask_once(call: Call, message: Message) -> Message | None:
    if message.get("method") != "elicitation/create":
        return message
    return message if call.memory.setdefault("first", message["id"]) == message["id"] else None


@spoils_message(inputs.asks_again, says="accept green")
def keep_the_first_answer(call: Call, message: Message) -> Message:
    return say(call, message, "accept blue")


@spoils_request(inputs.goes_on_when_declined, patience=3, says="the answer to POST tasks/result")
def lose_refusals(call: Call) -> Answer | None:
    refused = call.method is None and call.message.get("result") == {"action": "decline"}
    return Answer(202) if refused else None


@spoils_message(inputs.goes_on_when_declined, says="`cancel`")
def take_a_dismissal_for_a_refusal(call: Call, message: Message) -> Message:
    return say(call, message, "decline")


@spoils_message(inputs.sampling_names_its_task)
def leave_meta_out(call: Call, message: Message) -> Message:
    if message.get("method") == "sampling/createMessage":
        message["params"].pop("_meta")
    return message


def say(call: Call, message: Message, text: str) -> Message:
    if is_outcome(call, message):
        message["result"]["content"][0]["text"] = text
    return message
