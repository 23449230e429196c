"""What spoils the checks of ``ops/conform/checks/streams.py``."""

import json
from dataclasses import replace
from typing import Any

from ops.client.stream import Event, Message
from ops.conform.checks import streams
from tests.conformance.sabotage import Answer, Call, Head, spoils_event, spoils_head, spoils_message, spoils_request


def progress_event(token: object, step: int = 1) -> Event:
    """An event with a progress notification."""
    params: dict[str, Any] = {"progressToken": token, "progress": step}
    return Event(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))


@spoils_request(streams.get_stream_or_405)
def have_no_get(call: Call) -> Answer | None:
    return Answer(404) if call.verb == "GET" else None


@spoils_head(streams.get_stream_or_405)
def call_it_json(call: Call, head: Head) -> None:
    if call.verb == "GET" and call.node == 1:
        head.headers["content-type"] = "application/json"


@spoils_event(streams.opens_with_priming)
def leave_ids_out(call: Call, event: Event) -> Event:
    return replace(event, id=None)


@spoils_event(streams.no_priming_for_older_clients)
def prime_everyone(call: Call, event: Event) -> list[Event]:
    return [Event("", id="1"), event] if call.method == "tools/call" else [event]


@spoils_event(streams.retry_before_close)
def keep_silent_about_it(call: Call, event: Event) -> Event:
    return Event(event.data, id=event.id, name=event.name)


@spoils_message(streams.ends_with_response, patience=3)
def lose_the_response(call: Call, message: Message) -> Message | None:
    return None if "content" in message.get("result", {}) else message


@spoils_event(streams.ends_with_response, says="then came")
def report_once_more(call: Call, event: Event) -> list[Event]:
    is_response = "result" in (event.message or {}) and call.method == "tools/call"
    return [event, progress_event("h12")] if is_response else [event]


@spoils_message(streams.streams_are_kept_apart)
def mix_them(call: Call, message: Message) -> Message:
    if message.get("params", {}).get("progressToken") == "h12-a":
        message["params"]["progressToken"] = "h12-b"
    return message


@spoils_message(streams.disconnect_is_no_cancel, says="tick to go on", patience=4)
def stop_counting(call: Call, message: Message) -> Message:
    if call.params.get("name") == "conform_ticks" and message["result"]["content"][0]["text"] != "0":
        message["result"]["content"][0]["text"] = "1"
    return message


@spoils_event(streams.get_stream_is_unrelated)
def report_on_the_get_stream(call: Call, event: Event) -> list[Event]:
    return [event, progress_event("h16")] if call.verb == "GET" else [event]


@spoils_event(streams.no_response_on_get_stream)
def answer_on_the_get_stream(call: Call, event: Event) -> list[Event]:
    response = Event(json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}))
    return [event, response] if call.verb == "GET" and call.node == 1 else [event]


@spoils_request(streams.ping_meanwhile)
def have_no_ping(call: Call) -> Answer | None:
    return call.error(-32601) if call.method == "ping" else None


@spoils_request(streams.ping_meanwhile)
def say_pong(call: Call) -> Answer | None:
    return call.result({"pong": True}) if call.method == "ping" and call.node == 1 else None
