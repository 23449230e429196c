"""Streams are renewed before their leases end: many in one call, since ten thousand may be open and say nothing."""

import asyncio
import itertools
from typing import Protocol

import structlog

from receiver.cancellation import cancel_all
from receiver.store.streams import Stream, StreamStore

BATCH = 100
GATHER_SECONDS = 0.05  # those that are due a moment later go along

log = structlog.get_logger(__name__)


class Renewable(Protocol):
    """An open stream, of a task or (``""``) of its session."""

    stream: Stream
    task_id: str

    def call(self) -> None:
        """Has it look at the store, which renews it too."""


class Renewals:
    """The open streams of a node, each of which is renewed when nothing else did for so many ``seconds``."""

    def __init__(self, streams: StreamStore, *, seconds: float) -> None:
        self._streams = streams
        self._seconds = seconds
        self._due: dict[Renewable, float] = {}  # by the time of the event loop, the next one first
        self._actor: asyncio.Task[None] | None = None

    def note(self, feed: Renewable) -> None:
        """It was renewed just now."""
        self._due.pop(feed, None)
        self._due[feed] = asyncio.get_running_loop().time() + self._seconds
        if self._actor is None or self._actor.done():
            self._actor = asyncio.create_task(self._keep_renewing())

    def drop(self, feed: Renewable) -> None:
        """It is open no more."""
        self._due.pop(feed, None)

    async def stop(self) -> None:
        """Renews nothing more."""
        if self._actor is not None:
            await cancel_all([self._actor])

    async def _keep_renewing(self) -> None:
        loop = asyncio.get_running_loop()
        while self._due:
            rest = next(iter(self._due.values())) - loop.time()
            await asyncio.sleep(max(rest, GATHER_SECONDS))
            now = loop.time()
            due = [feed for feed, at in itertools.islice(self._due.items(), BATCH) if at <= now]
            if due:
                await self._renew(due)

    async def _renew(self, feeds: list[Renewable]) -> None:
        try:
            calling = await self._streams.renew([(feed.stream, feed.task_id) for feed in feeds])
        except Exception as error:
            log.warning("streams_not_renewed", error=type(error).__name__)
            calling = set()  # a lease outlives it: they are the next time
        for feed in feeds:
            if feed in self._due:
                self.note(feed)
                if feed.stream.id in calling:
                    feed.call()
