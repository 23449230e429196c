"""What open streams get of tasks and sessions: each message goes out on one stream alone (H-27)."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from receiver.protocol.errors import SessionEnded, TaskNotFound
from receiver.protocol.messages import render_list_changed, render_status
from receiver.session import Session
from receiver.store.client import Client
from receiver.store.record import OUTCOME_FIELDS, Kind, Progress, to_progress, to_task
from receiver.store.scripts import Argument
from receiver.store.tasks import new_nonce

CLOSE = b"close"  # a mark among the messages of a plain call: the connection that takes it ends there
_STATUS = b"status\n"  # how a message begins that is no JSON: the task as it was, with each field on a line


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream as one connection sends it: its ``id``, its session, and its request as JSON, if it answers one.

    ``listens``: whether its client takes anything but the response.
    """

    id: str
    session: Session
    request: bytes = b""
    listens: bool = True
    connection: str = field(default_factory=lambda: secrets.token_hex(4))


@dataclass(frozen=True, slots=True)
class Message:
    """A JSON-RPC notification or request, or none where a stream ``closes`` for its client to come back.

    ``position`` is where a client may go on after it, if that is known.
    """

    position: str
    body: bytes
    closes: bool = False


@dataclass(frozen=True, slots=True)
class News:
    """What a stream of a task gets: how far the task is, and messages; ``is_closed``: they were the last."""

    progress: Progress
    messages: list[Message]
    is_closed: bool


class StreamGivenUp(Exception):
    """The stream ends without a response: the request was cancelled (L-07), or another connection has the stream."""


class StreamStore:
    """``lease`` in ms is how long a stream lives without being renewed, ``session_idle`` how long a session does.

    ``lists``: a digest of each list that clients are shown here, by its kind.
    Who follows or hears never loses patience: streams stay open while the store is away.
    """

    def __init__(
        self, client: Client, *, lease: int, session_idle: int, lists: Mapping[str, str] | None = None
    ) -> None:
        self._client = client
        self._patient = client.with_patience(None)
        self._lease = lease
        self._session_idle = session_idle
        self._lists = dict(lists or {})

    async def follow(self, stream: Stream, task_id: str, kind: Kind, position: str, *, begins: bool) -> News:
        """What is new of a task behind ``position``; renews the stream.  ``begins``: its connection is new.

        A stream that has all of a task that is over is closed by that.
        Raises TaskNotFound and StreamGivenUp.
        """
        head = (*self._head(stream, position, begins), task_id, kind, stream.request, int(stream.listens))
        answer = await self._patient.call("follow", *head, *OUTCOME_FIELDS)
        if answer[0] == -1:
            raise TaskNotFound
        if answer[0] == -2:
            raise StreamGivenUp
        now, values, messages, questions, is_closed = answer
        return News(to_progress(now, values), _read(position, messages, questions), bool(is_closed))

    async def hear(self, stream: Stream, position: str, *, begins: bool) -> list[Message]:
        """What is new of a session, and of all its tasks that no stream of their own hears; renews the stream.

        Raises SessionEnded and StreamGivenUp.
        """
        lists = (part for kind, digest in self._lists.items() for part in (kind, digest, render_list_changed(kind)))
        answer = await self._patient.call("hear", *self._head(stream, position, begins), *lists)
        if answer[0] == -1:
            raise SessionEnded
        if answer[0] == -2:
            raise StreamGivenUp
        return _read(position, *answer)

    async def renew(self, streams: Iterable[tuple[Stream, str]]) -> set[str]:
        """Renews streams of tasks, each with the task's id, and of sessions (``""``), without a look.

        Returns the ids of those that have to look all the same.
        """
        lists = [part for item in self._lists.items() for part in item]
        head: tuple[Argument, ...] = (self._lease, self._session_idle, len(self._lists), *lists)
        each = (part for stream, task_id in streams for part in _describe(stream, task_id))
        return {found.decode() for found in await self._patient.call("renew", *head, *each)}

    async def is_wanted(self, stream_id: str, task_id: str) -> bool:
        """Whether a client may go on with a stream: not once it has cancelled the request (L-07)."""
        return bool(await self._client.call("is_wanted", stream_id, task_id))

    async def close(self, stream: Stream, task_id: str = "") -> None:
        """Ends a stream: what it held is free for others."""
        head = (stream.id, stream.connection, self._lease, stream.session.id)
        await self._client.call("close_stream", *head, task_id, stream.request)

    def _head(self, stream: Stream, position: str, begins: bool) -> tuple[Argument, ...]:
        session = stream.session
        head = (stream.id, stream.connection, int(begins), self._lease, session.id, session.owner)
        return (*head, self._session_idle, position, session.askable, new_nonce())


def _describe(stream: Stream, task_id: str) -> tuple[Argument, ...]:
    return (stream.id, stream.connection, stream.session.id, stream.session.owner, task_id, int(stream.listens))


def _read(position: str, messages: Iterable[Sequence[bytes]], questions: Iterable[bytes]) -> list[Message]:
    """Messages, and questions behind them; a question is kept elsewhere, so that no position is of its own."""
    read = [_to_message(kept.decode(), body) for kept, body in messages]
    last = read[-1].position if read else position
    return read + [Message(last, question) for question in questions]


def _to_message(position: str, message: bytes) -> Message:
    return Message(position, b"", closes=True) if message == CLOSE else Message(position, _render(message))


def _render(message: bytes) -> bytes:
    if not message.startswith(_STATUS):
        return message
    task_id, *values = message.removeprefix(_STATUS).split(b"\n")
    return render_status(to_task(task_id.decode(), [value or None for value in values]))
