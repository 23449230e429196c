"""Nodes to test, as far as they feed streams, and who reads what they feed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from receiver.feed import Feed, Feeds
from receiver.hub import Hub
from receiver.session import Session
from receiver.store.client import Client
from receiver.store.record import ClaimedRun, Progress
from receiver.store.streams import Stream, StreamStore
from tests.store.hubs import make_hub, running
from tests.store.world import SESSION_IDLE, STREAM_LEASE, World, until


@asynccontextmanager
async def running_node(world: World, renew_seconds: float = 60, redis: Any = None) -> AsyncIterator["Node"]:
    """The hub and the feeds of a node, over a connection of its own if one is given."""
    client = world.client if redis is None else Client(redis, world.keys, patience=0.2)
    streams = StreamStore(client, lease=STREAM_LEASE, session_idle=SESSION_IDLE)
    async with running(make_hub(world, redis)) as hub:
        feeds = Feeds(hub, streams, world.keys.session_events, renew_seconds=renew_seconds)
        try:
            yield Node(hub, feeds)
        finally:
            await feeds.drain()


@dataclass(frozen=True)
class Node:
    """What of a node takes part here."""

    hub: Hub
    feeds: Feeds


class Reader:
    """Reads a feed in the background: ``bodies`` are those of its messages, ``end`` what came last."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.begun = asyncio.Event()
        self.bodies: list[bytes] = []
        self.position = ""
        self.task = asyncio.create_task(self._read(feed))

    async def _read(self, feed: Feed) -> Progress:
        try:
            while not isinstance(entry := await feed.next(), Progress):
                assert entry is not None
                if self.begun.is_set():
                    self.bodies.append(entry.body)
                    self.position = entry.position
                self.begun.set()  # by the first message, which says so and nothing else
            return entry
        finally:
            feed.close()

    async def until_given(self, count: int) -> list[bytes]:
        """The messages, when there are so many."""
        await until(lambda: len(self.bodies) >= count or self.task.done())
        return self.bodies

    async def wait_for_begin(self) -> "Reader":
        """Returns when what is said will be heard."""
        beginning = asyncio.create_task(self.begun.wait())
        await asyncio.wait({self.task, beginning}, return_when=asyncio.FIRST_COMPLETED)
        assert self.begun.is_set()
        return self

    async def leave(self) -> None:
        """Reads no more."""
        self.task.cancel()
        await asyncio.wait({self.task})


def new_stream(session: Session, name: str = "s1", request: bytes = b"1") -> Stream:
    return Stream(name, session, request)


async def begin_to_follow(feeds: Feeds, run: ClaimedRun, stream: Stream, position: str = "") -> Reader:
    """A feed of a run's task that has looked for the first time."""
    return await Reader(feeds.follow_task(stream, run.task_id, run.kind, position)).wait_for_begin()


async def begin_to_hear(feeds: Feeds, stream: Stream, position: str = "") -> Reader:
    """A feed of a session that has looked for the first time."""
    return await Reader(feeds.hear_session(stream, position)).wait_for_begin()


async def is_carried(world: World, stream: Stream) -> bool:
    found = await world.redis.hget(world.keys.stream(stream.id), "connection")
    return bool(found == stream.connection.encode())


async def is_closed(world: World, stream: Stream) -> bool:
    return not await world.redis.exists(world.keys.stream(stream.id))
