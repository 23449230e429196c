"""Goes on with a stream that a client lost, from the record alone."""

import secrets
from functools import partial

import orjson

from receiver.dispatch import Later
from receiver.feed import SessionFeed
from receiver.methods.calls import render_call_outcome
from receiver.methods.later import follow_from
from receiver.methods.services import Services
from receiver.methods.tasks import render_task_outcome
from receiver.protocol.event_id import StreamPosition
from receiver.protocol.jsonrpc import RequestId
from receiver.session import Session
from receiver.store.streams import Stream


def open_session_stream(
    services: Services, session: Session, stood: StreamPosition | None
) -> tuple[StreamPosition, SessionFeed]:
    """A stream of ``session`` for what no stream of a request hears: a new one, or that which ``stood`` there."""
    start = stood or StreamPosition(session.owner, session.id, "session", "", "", secrets.token_hex(8), "")
    return start, services.feeds.hear_session(Stream(start.stream, session), start.position)


def resume(services: Services, session: Session, stood: StreamPosition) -> tuple[RequestId, Later]:
    """The request whose stream ``stood`` there, and its answer from there on."""
    if stood.kind == "call":
        finish = partial(render_call_outcome, session.revision)
        return orjson.loads(stood.request), follow_from(services, session, stood, "call", finish, at_once=True)
    finish = partial(render_task_outcome, stood.task_id)
    return orjson.loads(stood.request), follow_from(services, session, stood, "task", finish, at_once=True)
