"""The other side of a task: sessions of clients, connections of their streams, and what runs say and ask."""

import secrets
from dataclasses import replace
from typing import Any

from receiver.protocol.handshake import REVISIONS
from receiver.session import Session, new_session_id
from receiver.store.inputs import Question
from receiver.store.record import ClaimedRun, Kind, Progress
from receiver.store.runs import Notice, Verdict
from receiver.store.streams import Stream
from tests.store.world import World

ABLE: dict[str, Any] = {"elicitation": {}, "sampling": {}}
ANSWER = b'{"result":{"action":"accept"}}'
OTHER_ANSWER = b'{"result":{"action":"decline"}}'


def new_session(owner: str = "ada", capabilities: dict[str, Any] = ABLE) -> Session:
    """A session that has not begun."""
    return Session(new_session_id(), owner, REVISIONS["2025-11-25"], capabilities)


async def begin_session(world: World, owner: str = "ada", capabilities: dict[str, Any] = ABLE) -> Session:
    """A session that lives."""
    session = new_session(owner, capabilities)
    await world.sessions.start(session, {"name": "test"})
    return session


class Connection:
    """One connection of a stream: of a task's or call's, or, without a task id, of the session's own.

    ``position`` is where it stands; ``progress`` that of the task when it looked last.
    """

    def __init__(
        self, world: World, stream: Stream, task_id: str = "", kind: Kind = "task", position: str = ""
    ) -> None:
        self._world = world
        self.task_id = task_id
        self._kind: Kind = kind
        self._begins = True
        self.stream = stream
        self.position = position
        self.positions: list[str] = []
        self.progress: Progress | None = None

    async def look(self) -> list[bytes]:
        """What is new."""
        if self.task_id:
            news = await self._world.streams.follow(
                self.stream, self.task_id, self._kind, self.position, begins=self._begins
            )
            self.progress, messages = news.progress, news.messages
        else:
            messages = await self._world.streams.hear(self.stream, self.position, begins=self._begins)
        self._begins = False
        self.positions = [message.position for message in messages]
        self.position = self.positions[-1] if messages else self.position
        return [message.body for message in messages]

    async def look_over(self, world: World) -> list[bytes]:
        """What is new, by another way to the store."""
        here, self._world = self._world, world
        try:
            return await self.look()
        finally:
            self._world = here

    async def close(self) -> None:
        """The connection ends."""
        await self._world.streams.close(self.stream, self.task_id)

    def resumed(self, position: str | None = None) -> "Connection":
        """Another connection of the same stream, which begins where this one stands, or at ``position``."""
        stream = replace(self.stream, connection=secrets.token_hex(4))
        start = self.position if position is None else position
        return Connection(self._world, stream, self.task_id, self._kind, start)


def follow(
    world: World,
    session: Session,
    task_id: str,
    *,
    kind: Kind = "task",
    request: bytes | None = None,
    listens: bool = True,
) -> Connection:
    """A stream of a task, or of a plain call, that answers a request."""
    number = b'"%b"' % secrets.token_hex(4).encode() if request is None else request
    return Connection(world, Stream(secrets.token_hex(8), session, number, listens), task_id, kind)


def hear(world: World, session: Session) -> Connection:
    """A stream of the session's own."""
    return Connection(world, Stream(secrets.token_hex(8), session))


async def open_stream(
    world: World, kind: str, session: Session | None = None, *, listens: bool = True
) -> tuple[ClaimedRun, Connection]:
    """A stream of a ``task``, a ``call`` or a ``session`` that has begun, and a run that it hears."""
    session = session or await begin_session(world)
    run = await (start_call(world, session) if kind == "call" else world.start(session=session.id))
    if kind == "session":
        stream = hear(world, session)
    else:
        stream = follow(world, session, run.task_id, kind="call" if kind == "call" else "task", listens=listens)
    await stream.look()
    return run, stream


def audience_of(world: World, stream: Connection) -> str:
    """The key of the set that a stream is in."""
    keys = world.keys
    return keys.listeners(stream.task_id) if stream.task_id else keys.hearers(stream.stream.session.id)


async def start_call(world: World, session: Session, request: bytes = b"1") -> ClaimedRun:
    """The run of a new plain call."""
    return await world.start(owner=session.owner, kind="call", queue="plain", session=session.id, request=request)


async def say(world: World, run: ClaimedRun, *bodies: bytes, rank: int | None = None) -> Verdict:
    """A run says something."""
    return await world.runs.report(run.task_id, run.run, {}, [Notice(body, rank) for body in bodies])


def new_question(number: int = 1, text: str = "Which one?", *needs: str) -> Question:
    """A question; two of the same number and text differ in their id alone."""
    request_id = f"ask-{secrets.token_hex(16)}"
    body = b'{"id":"%b","text":"%b"}' % (request_id.encode(), text.encode())
    return Question(f"elicitation/create#{number}", text, request_id, "elicitation/create", body, needs)


async def read_answer(world: World, task_id: str, question: str) -> bytes | None:
    """The answer to a question, None for one that is open."""
    return (await world.inputs.look(task_id, question)).answer or None


async def ask(world: World, run: ClaimedRun, number: int = 1, text: str = "Which one?", *needs: str) -> Question:
    """A run asks something that was not asked before."""
    question = new_question(number, text, *needs)
    assert await world.inputs.ask(run.task_id, run.run, question) is Verdict.DONE
    return question
