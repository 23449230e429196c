"""Answers that come later, on streams that any node can go on with."""

import secrets
from collections.abc import Awaitable, Callable

import orjson

from receiver.dispatch import Answer, Later
from receiver.feed import TaskFeed
from receiver.methods.services import ServerCall, Services, session_of
from receiver.protocol.event_id import StreamPosition
from receiver.session import Session
from receiver.store.record import Kind, Progress
from receiver.store.streams import Stream

Finish = Callable[[Progress], Answer]


def follow(
    call: ServerCall, task_id: str, kind: Kind, finish: Finish, begin: Callable[[], Awaitable[object]] | None = None
) -> Later:
    """The answer of a request that waits for a task; ``begin`` creates it, if it does not exist yet."""
    session = session_of(call)
    request = orjson.dumps(call.id).decode()
    start = StreamPosition(session.owner, session.id, kind, task_id, request, secrets.token_hex(8), "")
    return follow_from(call.services, session, start, kind, finish, at_once=kind == "task", begin=begin)


def follow_from(
    services: Services,
    session: Session,
    start: StreamPosition,
    kind: Kind,
    finish: Finish,
    *,
    at_once: bool,
    begin: Callable[[], Awaitable[object]] | None = None,
) -> Later:
    """The same from a position of its stream on."""

    def feed(listens: bool) -> TaskFeed:
        stream = Stream(start.stream, session, start.request.encode(), listens)
        return services.feeds.follow_task(stream, start.task_id, kind, start.position)

    return Later(start, feed, finish, at_once, begin)
