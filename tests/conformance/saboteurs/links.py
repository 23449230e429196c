"""What spoils the checks of ``ops/conform/checks/links.py``."""

import json

from ops.client.stream import Event, Message
from ops.conform.checks import links
from tests.conformance.sabotage import Call, spoils_event, spoils_message

ASKED = "elicitation/create"
DONE = {"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": {"elicitationId": "another"}}


@spoils_message(links.url_question, says="elicitationId")
def leave_id_out(call: Call, message: Message) -> Message:
    if message.get("method") == ASKED:
        del message["params"]["elicitationId"]
    return message


@spoils_message(links.url_question, says="an `elicitationId` of its own")
def use_one_id(call: Call, message: Message) -> Message:
    if message.get("method") == ASKED:
        message["params"]["elicitationId"] = "1"
    return message


@spoils_message(links.url_question, says="a valid `url`")
def give_a_path(call: Call, message: Message) -> Message:
    if message.get("method") == ASKED:
        message["params"]["url"] = "/sign-in"
    return message


@spoils_message(links.url_is_safe)
def use_http(call: Call, message: Message) -> Message:
    if message.get("method") == ASKED:
        message["params"]["url"] = "http://example.org/sign-in"
    return message


@spoils_message(links.url_is_safe)
def sign_in_already(call: Call, message: Message) -> Message:
    if message.get("method") == ASKED:
        message["params"]["url"] = "https://ada:secret@example.org/"
    return message


@spoils_message(links.url_required, says="`data.elicitations`")
def lose_the_data(call: Call, message: Message) -> Message:
    message.get("error", {}).pop("data", None)
    return message


@spoils_message(links.url_required, says='`mode` "url"')
def list_a_form(call: Call, message: Message) -> Message:
    for one in (message.get("error", {}).get("data") or {}).get("elicitations", ()):
        one["mode"] = "form"
    return message


@spoils_message(links.told_when_done, says="of the question")
def tell_of_another(call: Call, message: Message) -> list[Message]:
    return [message, DONE] if message.get("method") == ASKED else [message]


@spoils_event(links.told_when_done, says="another client was told")
def tell_everybody(call: Call, event: Event) -> list[Event]:
    return [event, Event(json.dumps(DONE))] if call.verb == "GET" else [event]
