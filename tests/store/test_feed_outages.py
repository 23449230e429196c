"""Feeds while the store is away: they go on when it is back, and lose nothing."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from receiver.feed import LOOKS
from receiver.protocol.errors import TaskExpired
from receiver.store.client import connect
from tests.proxy import Proxy
from tests.servers import Server
from tests.store.backends import Backend, on_real_servers
from tests.store.clients import ask, begin_session, say, start_call
from tests.store.feeds import Node, begin_to_follow, begin_to_hear, new_stream, running_node
from tests.store.hubs import make_patient
from tests.store.world import World, finish, until

pytestmark = pytest.mark.timeout(30)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    make_patient(monkeypatch)


# A server that dies, and comes back with its data


@pytest.fixture
async def durable(own_server: Server) -> AsyncIterator[World]:
    world = World.open(Backend("own", own_server))
    yield world
    await world.close()


@pytest.fixture
async def far(own_server: Server) -> AsyncIterator[Any]:
    """Another connection to that server."""
    redis = connect(own_server.url)
    yield redis
    await redis.aclose(close_connection_pool=True)


@pytest.mark.parametrize("renew_seconds", [60, 0.01])
async def test_streams_go_on_when_the_server_is_back(
    own_server: Server, durable: World, far: Any, renew_seconds: float
) -> None:
    session = await begin_session(durable)
    task, call = await durable.start(session=session.id), await start_call(durable, session)
    async with running_node(durable, renew_seconds, far) as node:
        own = await begin_to_hear(node.feeds, new_stream(session, "own", b""))
        waiting = await begin_to_follow(node.feeds, call, new_stream(session))
        for round_ in range(2):
            await say(durable, task, b"{%d}" % round_)
            await say(durable, call, b"{%d}" % round_)
            await own.until_given(round_ + 1)
            await waiting.until_given(round_ + 1)
            own_server.kill()
            await asyncio.to_thread(own_server.restart)
        await finish(durable, call)
        assert (await waiting.task).status == "completed"
        assert waiting.bodies == own.bodies == [b"{0}", b"{1}"]
        await own.leave()


async def test_a_question_outlives_the_server(own_server: Server, durable: World, far: Any) -> None:
    session = await begin_session(durable)
    run = await start_call(durable, session)
    question = await ask(durable, run)
    own_server.kill()
    await asyncio.to_thread(own_server.restart)
    async with running_node(durable, redis=far) as node:
        waiting = await begin_to_follow(node.feeds, run, new_stream(session))
        assert await waiting.until_given(1) == [question.body]
        await waiting.leave()


async def test_the_ttl_ends_the_wait_also_in_an_outage(own_server: Server, durable: World, far: Any) -> None:
    session = await begin_session(durable)
    run = await durable.start(session=session.id, ttl=400)
    async with running_node(durable, 0.01, far) as node:
        waiting = await begin_to_follow(node.feeds, run, new_stream(session))
        own_server.kill()
        with pytest.raises(TaskExpired):
            await waiting.task


async def test_who_leaves_in_an_outage_does_not_wait(own_server: Server, durable: World, far: Any) -> None:
    session = await begin_session(durable)
    run = await durable.start(session=session.id)
    async with running_node(durable, redis=far) as node:
        waiting = await begin_to_follow(node.feeds, run, new_stream(session))
        own_server.kill()
        await waiting.leave()
        assert node.hub.watching == 0
        assert len(node.feeds._closing) == 1
        await node.feeds.drain()
        assert not node.feeds._closing


# Connections that are cut


@pytest.fixture
async def proxy(world: World) -> AsyncIterator[Proxy]:
    assert world.backend.server is not None
    async with Proxy(world.backend.server.socket) as proxy:
        yield proxy


@pytest.fixture
async def far_node(world: World, proxy: Proxy) -> AsyncIterator[Node]:
    """A node behind the proxy."""
    redis = connect(proxy.url)
    async with running_node(world, 0.01, redis) as node:
        yield node
    await redis.aclose(close_connection_pool=True)


@on_real_servers
@pytest.mark.parametrize("is_own", [True, False])
async def test_nothing_is_lost_and_nothing_comes_twice(
    world: World, proxy: Proxy, far_node: Node, is_own: bool
) -> None:
    session = await begin_session(world)
    run = await start_call(world, session)
    if is_own:
        reader = await begin_to_hear(far_node.feeds, new_stream(session, request=b""))
    else:
        reader = await begin_to_follow(far_node.feeds, run, new_stream(session))
    said = [b"{%d}" % number for number in range(60)]
    for start in range(0, 60, 4):
        await say(world, run, *said[start : start + 2])
        proxy.cut()
        await say(world, run, *said[start + 2 : start + 4])
        await reader.until_given(start + 1)
    question = await ask(world, run)
    proxy.cut()
    assert await reader.until_given(61) == [*said, question.body]
    await reader.leave()


@on_real_servers
async def test_replies_that_are_lost_again_and_again(world: World, proxy: Proxy, far_node: Node) -> None:
    session = await begin_session(world)
    run = await start_call(world, session)
    reader = await begin_to_follow(far_node.feeds, run, new_stream(session))
    said = [b"{%d}" % number for number in range(20)]
    for number, body in enumerate(said):
        before = proxy.lost
        proxy.lose_replies(2)
        await say(world, run, body)
        await until(lambda before=before: proxy.lost == before + 2)  # type: ignore[misc] # mypy can't tell its type
        await reader.until_given(number + 1)
    await finish(world, run)
    assert (await reader.task).status == "completed"
    assert reader.bodies == said


@on_real_servers
async def test_many_streams_take_turns(world: World, proxy: Proxy, far_node: Node) -> None:
    """While the store hangs all of them want to look, and leave connections to others."""
    session = await begin_session(world)
    run = await world.start(session=session.id)
    streams = [new_stream(session, f"s{number}", b"%d" % number) for number in range(2 * LOOKS)]
    readers = [await begin_to_follow(far_node.feeds, run, stream) for stream in streams]
    proxy.hold()
    for reader in readers:
        reader.feed.call()
    await until(lambda: len(far_node.feeds._looks._waiters or ()) >= LOOKS)
    assert proxy.accepted <= LOOKS + 4  # the hub has some as well
    proxy.release()
    await finish(world, run)
    assert {(await reader.task).status for reader in readers} == {"completed"}
