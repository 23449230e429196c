"""The waiter: hears of the end of a task, also when that is the end of its ttl."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from receiver.hub import Hub
from receiver.protocol.errors import Refused, TaskExpired
from receiver.store.record import Progress
from receiver.store.tasks import TaskStore
from receiver.waiter import Waiter
from tests.store.hubs import make_hub, make_patient, running, settle
from tests.store.world import DONE, World, finish, new_task, on_real_servers, share, until

pytestmark = [on_real_servers, pytest.mark.timeout(10)]

LONG = 60_000


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    make_patient(monkeypatch)


@pytest.fixture
async def hub(world: World) -> AsyncIterator[Hub]:
    async with running(make_hub(world)) as hub:
        yield hub


@pytest.fixture
def waiter(world: World, hub: Hub) -> Waiter:
    return Waiter(hub, world.tasks)


async def begin_to_wait(hub: Hub, waiter: Waiter, task_id: str, remaining: int = LONG) -> "asyncio.Task[Progress]":
    """A wait that has looked at the task and found it open."""
    waiting = asyncio.create_task(waiter.wait_until_terminal(task_id, "ada", remaining))
    await settle(hub)
    return waiting


async def test_a_finished_task_is_not_waited_for(world: World, waiter: Waiter) -> None:
    run = await world.start()
    await finish(world, run)
    progress = await waiter.wait_until_terminal(run.task_id, "ada", LONG)
    assert (progress.status, progress.payload) == ("completed", DONE.payload)


async def test_the_end_is_heard(world: World, hub: Hub, waiter: Waiter) -> None:
    run = await world.start()
    waiting = await begin_to_wait(hub, waiter, run.task_id)
    await finish(world, run)
    assert (await waiting).payload == DONE.payload
    assert hub.watching == 0


async def test_a_change_that_is_not_the_end_is_not_enough(world: World, hub: Hub, waiter: Waiter) -> None:
    run = await world.start()
    waiting = await begin_to_wait(hub, waiter, run.task_id)
    await world.runs.report(run.task_id, run.run, {"status_message": "half"})
    await settle(hub)
    assert not waiting.done()
    await world.tasks.cancel(run.task_id, "ada", "enough")
    assert (await waiting).status == "cancelled"


async def test_many_wait_for_one_task(world: World, hub: Hub, waiter: Waiter) -> None:
    run = await world.start()
    waits = [await begin_to_wait(hub, waiter, run.task_id) for _ in range(5)]
    await finish(world, run)
    assert {(await waiting).status for waiting in waits} == {"completed"}


async def test_a_plain_call_is_created_and_waited_for(world: World, waiter: Waiter) -> None:
    new = new_task(kind="call", queue="plain")
    calling = asyncio.create_task(waiter.call_and_wait(new))
    await until(lambda: world.redis.exists(world.keys.task(new.id)))
    await finish(world, await world.claim_one(queues=share("plain")))
    assert (await calling).payload == DONE.payload


async def test_a_plain_call_that_takes_too_long_has_expired(world: World, hub: Hub, waiter: Waiter) -> None:
    with pytest.raises(TaskExpired):
        await waiter.call_and_wait(new_task(kind="call", queue="plain", ttl=30))
    assert hub.watching == 0


async def test_a_plain_call_that_is_refused_is_not_waited_for(world: World, hub: Hub) -> None:
    tasks = TaskStore(world.client, task_limit=1, queue_limit=100)
    await tasks.create(new_task())
    with pytest.raises(Refused):
        await Waiter(hub, tasks).call_and_wait(new_task(kind="call", queue="plain"))
    assert hub.watching == 0


async def test_the_ttl_ends_the_wait(world: World, hub: Hub, waiter: Waiter) -> None:
    task_id = await world.create()
    with pytest.raises(TaskExpired):
        await waiter.wait_until_terminal(task_id, "ada", 30)
    assert hub.watching == 0


async def test_no_time_left_is_expired(world: World, waiter: Waiter) -> None:
    task_id = await world.create()
    with pytest.raises(TaskExpired):
        await waiter.wait_until_terminal(task_id, "ada", -1)


async def test_a_task_that_is_swept_has_expired(world: World, hub: Hub, waiter: Waiter) -> None:
    task_id = await world.create()
    waiting = await begin_to_wait(hub, waiter, task_id)
    await world.expire(task_id)
    await world.runs.sweep()
    with pytest.raises(TaskExpired):
        await waiting


async def test_who_gives_up_waits_no_longer(world: World, hub: Hub, waiter: Waiter) -> None:  # F19
    waiting = await begin_to_wait(hub, waiter, await world.create())
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert waiting.cancelled()
    assert hub.watching == 0


@pytest.mark.parametrize("steps", range(24))
async def test_whenever_it_gives_up(world: World, hub: Hub, waiter: Waiter, steps: int) -> None:  # F19
    task_id = await world.create()
    async with hub.watch(task_id):
        waiting = asyncio.create_task(waiter.wait_until_terminal(task_id, "ada", LONG))
        for _ in range(steps):
            await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait({waiting})
        assert waiting.cancelled()
