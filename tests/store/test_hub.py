"""The hub: whoever watches a task hears that it changed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from receiver import hub as hub_module
from receiver.hub import Hub
from receiver.store.keys import Keys
from tests.store.backends import on_real_servers
from tests.store.hubs import is_quiet, make_hub, make_patient, running, settle
from tests.store.world import World, finish, until

pytestmark = [on_real_servers, pytest.mark.timeout(10)]

KEYS = Keys()
CHANNEL = KEYS.events("0-1")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    make_patient(monkeypatch)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "LINGER_SECONDS", 0)


@pytest.fixture
async def hub(world: World) -> AsyncIterator[Hub]:
    async with running(make_hub(world)) as hub:
        yield hub


async def count_subscribers(world: World, channel: str = CHANNEL) -> int:
    return int((await world.redis.pubsub_numsub(channel))[0][1])


# Messages


async def test_a_watch_hears_of_a_change(world: World, hub: Hub) -> None:
    run = await world.start()
    async with hub.watch(run.task_id) as watch:
        await settle(hub, watch)
        await finish(world, run)
        await watch.wait()


async def test_a_watch_hears_what_was_said(world: World, hub: Hub) -> None:
    async with hub.watch("0-1") as watch, hub.watch("0-1") as other:
        await settle(hub, watch, other)
        for word in ("one", "other", "one"):
            await world.redis.publish(CHANNEL, word)
        await settle(hub)
        assert await watch.wait() == {"one", "other"}
        await world.redis.publish(CHANNEL, "last")
        assert await watch.wait() == {"last"}
        assert await other.wait() >= {"one", "other"}


async def test_a_watch_that_may_have_missed_something_hears_so(world: World, hub: Hub) -> None:
    async with hub.watch("0-1") as watch:
        await settle(hub, watch)
        await world.redis.client_kill_filter(_type="pubsub")
        assert await watch.wait() == {""}


async def test_it_is_subscribed_before_it_is_entered(world: World, hub: Hub) -> None:
    async with hub.watch("0-1"):
        assert await world.redis.publish(CHANNEL, "x") == 1


async def test_what_happens_before_the_first_wait_is_not_missed(world: World, hub: Hub) -> None:  # F33
    async with hub.watch("0-1") as watch:
        await settle(hub, watch)
        await world.redis.publish(CHANNEL, "x")
        await settle(hub)
        assert not is_quiet(watch)
        await watch.wait()


async def test_all_watches_of_a_task_hear_and_no_others(world: World, hub: Hub) -> None:
    async with hub.watch("0-1") as first, hub.watch("0-1") as second, hub.watch("0-2") as other:
        await settle(hub, first, second, other)
        await world.redis.publish(CHANNEL, "x")
        await asyncio.gather(first.wait(), second.wait())
        assert is_quiet(other)


async def test_many_messages_are_one_reason_to_look(world: World, hub: Hub) -> None:
    async with hub.watch("0-1") as watch:
        for _ in range(10):
            await world.redis.publish(CHANNEL, "x")
        await settle(hub)
        await watch.wait()
        assert is_quiet(watch)


async def test_a_thousand_watches_at_once(world: World, hub: Hub) -> None:
    ids = [f"0-{number}" for number in range(1_000)]
    async with AsyncExitStack() as stack:
        watches = await asyncio.gather(*(stack.enter_async_context(hub.watch(task_id)) for task_id in ids))
        assert hub.watching == 1_000
        await settle(hub, *watches)
        async with world.redis.pipeline(transaction=False) as pipe:
            for task_id in ids:
                pipe.publish(KEYS.events(task_id), "x")
            assert await pipe.execute() == [1] * 1_000
        await asyncio.gather(*(watch.wait() for watch in watches))
    assert hub.watching == 0


# Channels come and go


async def test_a_channel_lingers_for_who_comes_next(world: World, hub: Hub) -> None:
    async with hub.watch("0-1"):
        pass
    assert await count_subscribers(world) == 1
    async with hub.watch("0-1") as watch:
        await settle(hub, watch)
        await world.redis.publish(CHANNEL, "x")
        await watch.wait()


@pytest.mark.usefixtures("hasty")
async def test_a_channel_without_watches_is_left(world: World, hub: Hub) -> None:
    async with hub.watch("0-1"):
        async with hub.watch("0-1"):
            pass
        await settle(hub)
        await settle(hub)
        assert await count_subscribers(world) == 1
    await until(lambda: _is_left(world))


async def _is_left(world: World) -> bool:
    return await count_subscribers(world) == 0


async def test_channels_are_left_together(world: World, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "LINGER_SECONDS", 0.01)
    before = await _count_unsubscribes(world)
    async with AsyncExitStack() as stack:
        for number in range(20):
            await stack.enter_async_context(hub.watch(f"0-{number}"))
    await until(lambda: _has_left_all(world))
    assert await _count_unsubscribes(world) - before <= 2  # the first to end, and those that ended meanwhile


async def _count_unsubscribes(world: World) -> int:
    stats = await world.redis.info("commandstats")
    return int(stats.get("cmdstat_unsubscribe", {"calls": 0})["calls"])


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("steps", range(12))
async def test_a_channel_that_is_wanted_again_while_it_is_left(world: World, hub: Hub, steps: int) -> None:
    async with hub.watch("0-1"):
        pass
    for _ in range(steps):
        await asyncio.sleep(0)
    async with hub.watch("0-1") as watch:
        await settle(hub, watch)
        assert await world.redis.publish(CHANNEL, "x") == 1
        await watch.wait()


@pytest.mark.usefixtures("hasty")
async def test_nothing_is_remembered_of_channels_that_are_gone(world: World, hub: Hub) -> None:
    for number in range(50):
        entering = asyncio.create_task(_enter(hub, f"0-{number}"))
        for _ in range(number % 7):
            await asyncio.sleep(0)
        entering.cancel()
        await asyncio.gather(entering, return_exceptions=True)
    await settle(hub)
    await until(lambda: _has_left_all(world))
    assert (hub._channels, +hub._awaited, hub.watching) == ({}, {}, 0)
    assert len(hub._awaited) <= 1


async def _enter(hub: Hub, task_id: str) -> None:
    async with hub.watch(task_id) as watch:
        await watch.wait()
        await asyncio.Event().wait()


async def _has_left_all(world: World) -> bool:
    return bool(await world.redis.pubsub_channels() == [KEYS.events("-").encode()])


async def test_a_waiter_that_gives_up_is_forgotten(hub: Hub) -> None:  # F19
    entering = asyncio.create_task(_enter(hub, "0-1"))
    await settle(hub)
    assert hub.watching == 1
    entering.cancel()
    await asyncio.gather(entering, return_exceptions=True)
    assert hub.watching == 0


# The safety net


async def test_a_change_whose_message_was_lost_is_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "REREAD_SECONDS", 0.01)
    task_id = await world.create()
    async with running(make_hub(world)) as hub, hub.watch(task_id) as watch:
        await settle(hub, watch)
        await world.set_status(task_id, "completed")
        await watch.wait()
        await settle(hub, watch)
        await world.forget(task_id)
        await watch.wait()


async def test_a_store_that_is_away_is_read_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "REREAD_SECONDS", 0.01)
    replies: list[Any] = [OSError("away"), [], ["completed", "too many"], ["completed"]]

    async def read(task_ids: list[str]) -> list[str]:
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if isinstance(reply, OSError):
            raise reply
        return list(reply)

    async with running(Hub(world.redis, world.keys.events, read)) as hub, hub.watch("0-1") as watch:
        await settle(hub, watch)
        await watch.wait()


# Ending


async def test_stop_leaves_no_task_behind(world: World) -> None:
    before = asyncio.all_tasks()
    hub = make_hub(world)
    hub.start()
    async with hub.watch("0-1"):
        pass
    await hub.stop()
    assert asyncio.all_tasks() == before
    await until(lambda: _has_no_channels(world))


async def _has_no_channels(world: World) -> bool:
    return bool(await world.redis.pubsub_channels() == [])


@pytest.mark.parametrize("steps", range(0, 40, 2))
async def test_it_can_be_stopped_at_any_moment(world: World, steps: int) -> None:
    before = asyncio.all_tasks()
    hub = make_hub(world)
    hub.start()
    for _ in range(steps):
        await asyncio.sleep(0)
    await hub.stop()
    assert asyncio.all_tasks() == before


async def test_a_hub_that_never_started_can_be_stopped(world: World) -> None:
    await make_hub(world).stop()
