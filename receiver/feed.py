"""What a stream is fed with: messages as they come, and at the end of a task its outcome."""

import asyncio
import math
from abc import ABC, abstractmethod
from collections.abc import Callable

import structlog

from receiver.hub import Hub
from receiver.protocol.errors import InternalError, ReceiverError, TaskExpired, TaskNotFound
from receiver.protocol.lifecycle import is_terminal
from receiver.renewal import Renewals
from receiver.store.record import Kind, Progress
from receiver.store.streams import Message, News, Stream, StreamStore
from receiver.telemetry import metrics
from receiver.waiters import Waiters
from receiver.watch import Watch

LOOKS = 16  # streams that ask the store at the same time: the rest of its connections is for requests
CLOSES = 16  # likewise those that end
CLOSE_SECONDS = 10.0  # after which a stream that could not be closed is left to its lease
DRAIN_SECONDS = 3.0  # likewise when the node ends

log = structlog.get_logger(__name__)


class Feeds:
    """Feeds the streams of one node, which are renewed every ``renew_seconds``; ``waiters`` are those whom it feeds.

    ``streams`` never loses patience: streams stay open while the store is away.
    """

    def __init__(
        self, hub: Hub, streams: StreamStore, name_channel: Callable[[str], str], *, renew_seconds: float
    ) -> None:
        self._hub = hub
        self._streams = streams
        self._name_channel = name_channel
        self.renewals = Renewals(streams, seconds=renew_seconds)
        self.waiters = Waiters()
        self._closing: set[asyncio.Task[None]] = set()
        self._looks = asyncio.Semaphore(LOOKS)  # all streams may want to look at once, or to try again
        self._closes = asyncio.Semaphore(CLOSES)

    async def drain(self) -> None:
        """Renews no more streams; returns when those that ended are closed, or must be left to their leases."""
        await self.renewals.stop()
        if self._closing:
            await asyncio.wait(self._closing, timeout=DRAIN_SECONDS)

    async def is_wanted(self, stream_id: str, task_id: str) -> bool:
        """Whether a client may go on with a stream: not once it has cancelled the request (L-07)."""
        return await self._streams.is_wanted(stream_id, task_id)

    def follow_task(self, stream: Stream, task_id: str, kind: Kind, position: str = "") -> "TaskFeed":
        """The messages of a task behind ``position``, and at last its terminal state."""
        return TaskFeed(self, stream, self._hub.watch(task_id), position, task_id, kind)

    def hear_session(self, stream: Stream, position: str = "") -> "SessionFeed":
        """The messages behind ``position`` of a session, and of all its tasks that no stream of their own hears."""
        return SessionFeed(self, stream, self._hub.watch_channel(self._name_channel(stream.session.id)), position)

    async def look(
        self, stream: Stream, task_id: str, kind: Kind, position: str, begins: bool, deadline: float | None
    ) -> News:
        """What is new of a task.  Raises TimeoutError at the deadline, and what the store raises."""
        async with asyncio.timeout_at(deadline), self._looks:
            return await self._streams.follow(stream, task_id, kind, position, begins=begins)

    async def hear(self, stream: Stream, position: str, begins: bool) -> list[Message]:
        """What is new of a session."""
        async with self._looks:
            return await self._streams.hear(stream, position, begins=begins)

    def close(self, stream: Stream, task_id: str = "") -> None:
        """Ends a stream in the background: who leaves it does not wait, least of all while the store is away."""
        task = asyncio.create_task(self._close_in_turn(stream, task_id))
        self._closing.add(task)
        task.add_done_callback(self._forget)

    async def _close_in_turn(self, stream: Stream, task_id: str) -> None:
        async with asyncio.timeout(CLOSE_SECONDS), self._closes:
            await self._streams.close(stream, task_id)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._closing.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.warning("stream_not_closed", error=type(error).__name__)  # its lease ends it


class Feed(ABC):
    """One entry of a stream after the other, until it is closed.  ``position`` is behind what was read.

    The first is an empty message: what is said from then on is not missed.
    """

    __slots__ = ("_deadline", "_is_begun", "_node", "_ready", "_watch", "position", "stream", "task_id")

    def __init__(self, node: Feeds, stream: Stream, watch: Watch, position: str, task_id: str = "") -> None:
        self.position = position
        self.stream = stream
        self.task_id = task_id
        self._node = node
        self._watch = watch
        self._ready: list[Message | Progress] = []  # the next one last
        self._deadline: float | None = None  # when there is no more to come
        self._is_begun = False

    async def next(self, until: float = math.inf) -> Message | Progress | None:
        """What comes next; None if nothing did by that time of the event loop."""
        while not self._ready:
            if self._is_begun:
                deadline = self._deadline or math.inf
                if not await self._watch.wait(min(until, deadline)) and until < deadline:
                    return None
                self._ready = await self._look(begins=False)
            else:
                await self._watch.open()
                self._is_begun = True
                self._begin()
                self._ready = [*await self._look(begins=True), Message(self.position, b"")]
            self._node.renewals.note(self)
        entry = self._ready.pop()
        if isinstance(entry, Message):
            self.position = entry.position
        return entry

    def close(self) -> None:
        """Ends it."""
        self._watch.close()
        if self._is_begun:
            self._is_begun = False
            self._node.renewals.drop(self)
            self._end()

    def call(self) -> None:
        """Has it look, though nothing was heard."""
        self._watch.notify()

    @abstractmethod
    def _begin(self) -> None: ...

    @abstractmethod
    def _end(self) -> None: ...

    @abstractmethod
    async def _look(self, *, begins: bool) -> list[Message | Progress]:
        """What is new, the first of it last."""


class TaskFeed(Feed):
    """``next`` raises TaskExpired or, for a plain call, InternalError; and StreamGivenUp."""

    __slots__ = ("_is_closed", "_kind", "_wait", "_waiter")

    def __init__(self, node: Feeds, stream: Stream, watch: Watch, position: str, task_id: str, kind: Kind) -> None:
        super().__init__(node, stream, watch, position, task_id)
        self._kind = kind
        self._is_closed = False

    def _begin(self) -> None:
        session = self.stream.session
        self._wait = metrics.ResultWait(is_counted=self._kind == "task")
        self._waiter = self._node.waiters.begin(self.task_id, self._kind, session.id, session.owner)

    def _end(self) -> None:
        self._wait.end()
        self._node.waiters.end(self._waiter)
        if not self._is_closed:
            self._node.close(self.stream, self.task_id)

    async def _look(self, *, begins: bool) -> list[Message | Progress]:
        try:
            news = await self._node.look(self.stream, self.task_id, self._kind, self.position, begins, self._deadline)
        except (TimeoutError, TaskNotFound):
            self._wait.outcome = "expired"
            raise _expired(self._kind) from None
        self._is_closed, progress = news.is_closed, news.progress
        found: list[Message | Progress] = [*reversed(news.messages)]
        if is_terminal(progress.status):
            self._wait.outcome = progress.status
            return [progress, *found]
        self._deadline = asyncio.get_running_loop().time() + progress.remaining / 1000
        return found


class SessionFeed(Feed):
    """``next`` raises SessionEnded and StreamGivenUp."""

    __slots__ = ()

    def _begin(self) -> None:
        self._node.waiters.streams += 1

    def _end(self) -> None:
        self._node.waiters.streams -= 1
        self._node.close(self.stream)

    async def _look(self, *, begins: bool) -> list[Message | Progress]:
        return [*reversed(await self._node.hear(self.stream, self.position, begins))]


def _expired(kind: Kind) -> ReceiverError:
    return TaskExpired() if kind == "task" else InternalError("The call was not finished in time")
