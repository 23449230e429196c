"""What spoils the checks of ``ops/conform/checks/resumption.py``."""

import json
from dataclasses import replace

from ops.client.stream import Event, Message
from ops.conform.checks import resumption
from tests.conformance.sabotage import Answer, Call, spoils_event, spoils_message, spoils_request
from tests.conformance.saboteurs.isolation import ALICE
from tests.conformance.saboteurs.streams import progress_event


def is_resuming(call: Call) -> bool:
    """Whether it goes on with a stream that was lost."""
    return "last-event-id" in call.headers


@spoils_event(resumption.event_ids_are_unique)
def count_on_each_node(call: Call, event: Event) -> Event:
    call.memory[f"node {call.node}"] = count = call.memory.get(f"node {call.node}", 0) + 1
    return replace(event, id=str(count))


@spoils_request(resumption.resumes_elsewhere)
def resume_nothing(call: Call) -> Answer | None:
    return Answer(400) if is_resuming(call) else None


@spoils_request(resumption.resumes_elsewhere, says="waiting for the response", patience=4)
def begin_anew(call: Call) -> None:
    call.headers.pop("last-event-id", None)


@spoils_message(resumption.resumes_elsewhere, says="wanted: the response")
def answer_another_request(call: Call, message: Message) -> Message:
    return message | {"id": "another"} if is_resuming(call) and "result" in message else message


@spoils_event(resumption.resumes_behind_last_event)
def begin_at_the_first_event(call: Call, event: Event) -> list[Event]:
    if call.method == "tools/call" and event.data:
        call.memory.setdefault("first", event)
    return [call.memory["first"], event] if is_resuming(call) else [event]


@spoils_event(resumption.replays_nothing_of_others)
def send_progress_of_another(call: Call, event: Event) -> list[Event]:
    return [progress_event("h24-other"), event] if is_resuming(call) else [event]


@spoils_event(resumption.replays_nothing_of_others)
def send_the_response_of_another(call: Call, event: Event) -> list[Event]:
    response = Event(json.dumps({"jsonrpc": "2.0", "id": "another", "result": {}}))
    return [response, event] if is_resuming(call) else [event]


@spoils_request(resumption.invented_event_id)
def break_down(call: Call) -> Answer | None:
    return Answer(500) if is_resuming(call) else None


@spoils_request(resumption.event_id_is_no_key)
def take_bob_for_alice(call: Call) -> None:
    if call.headers["authorization"] == ALICE:
        call.memory["session"] = call.headers.get("mcp-session-id")
    elif is_resuming(call):
        call.headers |= {"authorization": ALICE, "mcp-session-id": call.memory["session"]}
