"""What spoils the checks of ``ops/conform/checks/streams.py``."""

from dataclasses import replace

from ops.conform.checks import streams
from ops.conform.stream import Event
from tests.conformance.sabotage import Answer, Call, spoils_event, spoils_request


@spoils_event(streams.opens_with_priming)
def leave_ids_out(call: Call, event: Event) -> Event:
    return replace(event, id=None)


@spoils_request(streams.ping_meanwhile)
def have_no_ping(call: Call) -> Answer | None:
    return call.error(-32601) if call.method == "ping" else None
