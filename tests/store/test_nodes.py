"""API nodes: how they make themselves known, and go."""

import asyncio
from types import SimpleNamespace

import orjson
import pytest

from receiver.cancellation import cancel_all
from receiver.node import Node
from receiver.presence import Presence
from receiver.receiver import Receiver
from receiver.settings import Settings
from receiver.store.census import Census, WaiterView
from receiver.store.nodes import NodeStore, new_process_id
from receiver.waiters import Waiters
from tests.store.backends import on_real_servers
from tests.store.clients import begin_session
from tests.store.feeds import begin_to_follow, begin_to_hear, new_stream, running_node
from tests.store.world import World, until


def make_node(world: World, name: str = "n1") -> NodeStore:
    return NodeStore(world.client, name)


async def names(world: World) -> list[str]:
    return [node.name for node in await Census(world.client).list_nodes()]


async def test_a_node_is_shown(world: World) -> None:
    before = await world.now()
    await make_node(world).beat({"host": "here", "pid": 7, "version": "1", "url": "http://here", "draining": 0})
    (node,) = await Census(world.client).list_nodes()
    assert (node.name, node.host, node.pid, node.version, node.url) == ("n1", "here", 7, "1", "http://here")
    assert before <= node.started_at == node.seen_at <= await world.now()
    assert abs(node.clock_offset) < 1_000
    assert not node.is_draining


async def test_a_later_beat_changes_what_is_shown_but_not_since_when(world: World) -> None:
    node = make_node(world)
    await node.beat({"draining": 0})
    await world.redis.hset(world.keys.node("n1"), "started_at", 5)
    await node.beat({"draining": 1})
    (shown,) = await Census(world.client).list_nodes()
    assert (shown.started_at, shown.is_draining) == (5, True)


async def test_the_clock_of_a_node_is_compared_with_that_of_the_store(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = await world.now()
    monkeypatch.setattr("receiver.store.nodes.time", SimpleNamespace(time=lambda: (now - 60_000) / 1000))
    await make_node(world).beat({})
    (node,) = await Census(world.client).list_nodes()
    assert -61_000 < node.clock_offset <= -60_000


async def test_a_node_that_leaves_is_gone(world: World) -> None:
    node, other = make_node(world), make_node(world, "n2")
    await node.beat({})
    await other.beat({})
    await node.leave()
    await node.leave()  # as when its reply was lost
    assert await names(world) == ["n2"]
    assert await world.redis.exists(world.keys.node("n1")) == 0


async def test_a_node_that_was_killed_is_forgotten(world: World) -> None:
    await make_node(world).beat({})
    assert 15_000 < await world.redis.pttl(world.keys.node("n1")) <= 20_000
    await world.redis.delete(world.keys.node("n1"))  # as its TTL does
    assert await names(world) == []
    await world.redis.zadd(world.keys.nodes(), {"n1": await world.now() - 20_001})
    await make_node(world, "n2").beat({})
    assert await world.members(world.keys.nodes()) == ["n2"]


async def test_the_last_one_is_forgotten_by_workers(world: World) -> None:
    await world.redis.zadd(world.keys.nodes(), {"n1": await world.now() - 61_000})
    await world.runs.sweep(worker_age=60_000)
    assert await world.members(world.keys.nodes()) == []


async def test_those_heard_of_last_come_first_and_no_more_than_asked_for(world: World) -> None:
    for name in ("n1", "n2", "n3"):
        await make_node(world, name).beat({})
    now = await world.now()
    await world.redis.zadd(world.keys.nodes(), {"n1": now - 1, "n2": now - 3, "n3": now - 2})
    assert [node.name for node in await Census(world.client).list_nodes(2)] == ["n1", "n3"]


async def test_names_are_not_used_twice() -> None:
    assert len({new_process_id() for _ in range(100)}) == 100


# Waiters


async def test_those_who_wait_longest_come_first_over_all_nodes(world: World) -> None:
    def waiter(task: str, waited: int) -> dict[str, object]:
        return {"task": task, "kind": "task", "session": "s", "owner": "ada", "waited": waited}

    await make_node(world).beat({"longest": orjson.dumps([waiter("t1", 9_000), waiter("t2", 2_000)])})
    await make_node(world, "n2").beat({"longest": orjson.dumps([waiter("t3", 5_000)])})
    census = Census(world.client)
    assert [(found.task_id, found.node) for found in await census.list_waiters()] == [
        ("t1", "n1"),
        ("t3", "n2"),
        ("t2", "n1"),
    ]
    assert [found.task_id for found in await census.list_waiters(1)] == ["t1"]


async def test_whoever_waits_at_a_node_is_told_of(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    async with running_node(world) as node:
        following = await begin_to_follow(node.feeds, run, new_stream(session))
        hearing = await begin_to_hear(node.feeds, new_stream(session, "own", b""))
        waiters = node.feeds.waiters
        assert (waiters.results, waiters.calls, waiters.streams) == (1, 0, 1)
        presence = Presence(make_node(world), waiters, app="test", url="")
        beating = asyncio.create_task(presence.keep_beating())
        await until(lambda: _is_shown(world))
        (found,) = await Census(world.client).list_waiters()
        assert found == WaiterView("n1", run.task_id, "task", session.id, "ada", found.since)
        assert found.since <= await world.now()
        for reader in (following, hearing):
            await reader.leave()
        assert (waiters.results, waiters.calls, waiters.streams) == (0, 0, 0)
        await cancel_all([beating])


async def _is_shown(world: World) -> bool:
    return bool(await world.redis.exists(world.keys.nodes()))


def test_waiters_stand_in_the_order_in_which_they_came() -> None:
    waiters = Waiters()
    first, second, third = [waiters.begin(f"t{number}", "call", "s", "ada") for number in range(3)]
    waiters.end(first)
    assert waiters.longest(5) == [second, third]
    assert waiters.longest(1) == [second]
    assert (waiters.results, waiters.calls) == (0, 2)


# The node


@on_real_servers
async def test_a_node_shows_itself_says_that_it_drains_and_takes_itself_away(world: World) -> None:
    assert world.backend.server is not None
    settings = Settings(redis_url=world.backend.server.url, ready_without_workers=True)
    node = Node(Receiver("acme"), settings, "http://here:80")
    assert await node.readiness.find_reason() is None
    await node.open()
    await until(lambda: _is_shown(world))
    (shown,) = await Census(world.client).list_nodes()
    assert (shown.app, shown.url, shown.is_draining) == ("acme", "http://here:80", False)
    node.drain()
    await until(lambda: _is_draining(world))
    assert await node.readiness.find_reason() == "this node is about to end"
    await node.close()
    assert await names(world) == []


async def _is_draining(world: World) -> bool:
    return (await Census(world.client).list_nodes())[0].is_draining
