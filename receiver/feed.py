"""What a stream is fed with: messages as they come, and at the end of a task its outcome."""

import asyncio
from collections.abc import AsyncGenerator, Callable

import structlog

from receiver.hub import Hub, Watch
from receiver.protocol.errors import InternalError, ReceiverError, TaskExpired, TaskNotFound
from receiver.protocol.lifecycle import is_terminal
from receiver.store.record import Kind, Progress
from receiver.store.streams import Message, News, Stream, StreamStore
from receiver.telemetry import metrics
from receiver.waiters import Waiters

LOOKS = 32  # streams that ask the store at the same time: the rest of its connections is for requests
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
        self._renew_seconds = renew_seconds
        self.waiters = Waiters()
        self._closing: set[asyncio.Task[None]] = set()
        self._looks = asyncio.Semaphore(LOOKS)  # all streams may want to look at once, or to try again
        self._closes = asyncio.Semaphore(CLOSES)

    async def drain(self) -> None:
        """Returns when the streams that ended are closed, or must be left to their leases."""
        if self._closing:
            await asyncio.wait(self._closing, timeout=DRAIN_SECONDS)

    async def is_wanted(self, stream_id: str, task_id: str) -> bool:
        """Whether a client may go on with a stream: not once it has cancelled the request (L-07)."""
        return await self._streams.is_wanted(stream_id, task_id)

    async def follow_task(
        self, stream: Stream, task_id: str, kind: Kind, position: str = ""
    ) -> AsyncGenerator[Message | Progress]:
        """The messages of a task behind ``position``, and at last its terminal state.

        The first message is empty: what the task says from then on is not missed.
        Raises TaskExpired or, for a plain call, InternalError; and StreamGivenUp.
        """
        async with self._hub.watch(task_id) as watch:
            wait = metrics.ResultWait(is_counted=kind == "task")
            waiter = self.waiters.begin(task_id, kind, stream.session.id, stream.session.owner)
            try:
                deadline, begins, is_closed = None, True, False
                while True:
                    news = await self._look(stream, task_id, kind, position, begins, deadline)
                    is_closed = news.is_closed
                    if begins:
                        yield Message(position, b"")
                    for message in news.messages:
                        position = message.position
                        yield message
                    if is_terminal(news.progress.status):
                        wait.outcome = news.progress.status
                        yield news.progress
                        return
                    deadline, begins = asyncio.get_running_loop().time() + news.progress.remaining / 1000, False
                    await self._wait(watch, deadline)
            except (TimeoutError, TaskNotFound):
                wait.outcome = "expired"
                raise _expired(kind) from None
            finally:
                wait.end()
                self.waiters.end(waiter)
                if not is_closed:
                    self._close(stream, task_id)

    async def hear_session(self, stream: Stream, position: str = "") -> AsyncGenerator[Message]:
        """The messages behind ``position`` of a session, and of all its tasks that no stream of their own hears.

        The first message is empty: what they say from then on is not missed.
        Raises SessionEnded and StreamGivenUp.
        """
        async with self._hub.watch_channel(self._name_channel(stream.session.id)) as watch:
            begins = True
            self.waiters.streams += 1
            try:
                while True:
                    async with self._looks:
                        messages = await self._streams.hear(stream, position, begins=begins)
                    if begins:
                        yield Message(position, b"")
                    for message in messages:
                        position = message.position
                        yield message
                    begins = False
                    await self._wait(watch)
            finally:
                self.waiters.streams -= 1
                self._close(stream)

    async def _look(
        self, stream: Stream, task_id: str, kind: Kind, position: str, begins: bool, deadline: float | None
    ) -> News:
        async with asyncio.timeout_at(deadline), self._looks:
            return await self._streams.follow(stream, task_id, kind, position, begins=begins)

    async def _wait(self, watch: Watch, deadline: float | None = None) -> None:
        """Returns when there may be something new, or the stream has to be renewed, or at the deadline."""
        renewal = asyncio.get_running_loop().time() + self._renew_seconds
        try:
            async with asyncio.timeout_at(renewal if deadline is None else min(renewal, deadline)):
                await watch.wait()
        except TimeoutError:
            return

    def _close(self, stream: Stream, task_id: str = "") -> None:
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


def _expired(kind: Kind) -> ReceiverError:
    return TaskExpired() if kind == "task" else InternalError("The call was not finished in time")
