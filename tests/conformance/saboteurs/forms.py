"""What spoils the checks of ``ops/conform/checks/forms.py``."""

from ops.client.stream import Message
from ops.conform.checks import forms
from tests.conformance.sabotage import Answer, Call, spoils_message, spoils_request

ASKED = "elicitation/create"


@spoils_message(forms.form_question, says="a `message`")
def say_nothing(call: Call, message: Message) -> Message:
    if message.get("method") == ASKED:
        message["params"]["message"] = ""
    return message


@spoils_message(forms.form_question, says="not answer")
def nest_it(call: Call, message: Message) -> Message:
    if message.get("method") == ASKED:
        message["params"]["requestedSchema"]["properties"]["answer"] = {"type": "object", "properties": {}}
    return message


@spoils_message(forms.form_question, says="not tags")
def ask_for_a_list(call: Call, message: Message) -> Message:
    if message.get("method") == ASKED:
        message["params"]["requestedSchema"]["properties"]["tags"] = {"type": "array", "items": {"type": "string"}}
    return message


@spoils_message(forms.form_question, says="`required`")
def require_what_is_not_there(call: Call, message: Message) -> Message:
    if message.get("method") == ASKED:
        message["params"]["requestedSchema"]["required"] = ["name"]
    return message


@spoils_message(forms.form_question, says='`type` "object"')
def have_no_schema(call: Call, message: Message) -> Message:
    if message.get("method") == ASKED:
        del message["params"]["requestedSchema"]
    return message


@spoils_request(forms.wrong_form_is_not_taken, says="`accept blue`")
def take_it_as_it_is(call: Call) -> Answer | None:
    content = (call.message.get("result") or {}).get("content", {})
    if content.get("answer") == 7:
        # What a server that looks at nothing would be given.
        call.message = {**call.message, "result": {"action": "accept", "content": {"answer": "7"}}}
    return None
