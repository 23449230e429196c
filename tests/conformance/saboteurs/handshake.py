"""What spoils the checks of ``ops/conform/checks/handshake.py``."""

import json
from dataclasses import replace

from ops.client.stream import Event, Message
from ops.conform.checks import handshake
from tests.conformance.sabotage import Answer, Call, spoils_event, spoils_message, spoils_request


@spoils_message(handshake.latest_is_offered)
@spoils_message(handshake.version_is_echoed)
def offer_june(call: Call, message: Message) -> Message:
    if call.method == "initialize":
        message["result"]["protocolVersion"] = "2025-06-18"
    return message


@spoils_message(handshake.older_version, says="has to be agreed on")
def insist_on_the_latest(call: Call, message: Message) -> Message:
    if call.method == "initialize":
        message["result"]["protocolVersion"] = "2025-11-25"
    return message


@spoils_message(handshake.older_version, says="a version of MCP")
def call_it_latest(call: Call, message: Message) -> Message:
    if call.method == "initialize":
        message["result"]["protocolVersion"] = "latest"
    return message


@spoils_message(handshake.version_to_come)
def echo_every_version(call: Call, message: Message) -> Message:
    if call.method == "initialize":
        message["result"]["protocolVersion"] = call.params["protocolVersion"]
    return message


@spoils_request(handshake.version_to_come)
def refuse_unknown_versions(call: Call) -> Answer | None:
    return call.error(-32602) if call.params.get("protocolVersion") == "2099-01-01" else None


@spoils_message(handshake.initialize_result, says="`serverInfo`")
def keep_the_name(call: Call, message: Message) -> Message:
    if call.method == "initialize":
        message["result"]["serverInfo"].pop("name")
    return message


@spoils_message(handshake.initialize_result, says="`capabilities`")
def list_the_capabilities(call: Call, message: Message) -> Message:
    if call.method == "initialize":
        message["result"]["capabilities"] = list(message["result"]["capabilities"])
    return message


@spoils_event(handshake.silent_until_initialized)
def ask_for_roots(call: Call, event: Event) -> list[Event]:
    asked = json.dumps({"jsonrpc": "2.0", "id": "roots", "method": "roots/list"})
    return [event, replace(event, id=None, data=asked)] if call.verb == "GET" else [event]


@spoils_request(handshake.ping_before_initialized)
def wait_for_initialized(call: Call) -> Answer | None:
    return call.error(-32600) if call.method == "ping" else None
