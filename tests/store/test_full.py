"""A store without memory refuses what is new, and lets end what has begun."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from receiver.protocol.errors import Refused
from receiver.store.runs import Verdict
from tests.store.world import World, finish, new_task, on_real_servers

pytestmark = on_real_servers

Fill = Callable[[], Awaitable[None]]


@pytest.fixture
async def fill(world: World) -> AsyncIterator[Fill]:
    """Takes all memory away, until the test is over."""

    async def take_memory_away() -> None:
        await world.redis.config_set("maxmemory", 1)

    yield take_memory_away
    await world.redis.config_set("maxmemory", 0)


async def expect_refusal(world: World, call: Awaitable[object]) -> None:
    before = await world.dump()
    with pytest.raises(Refused) as refused:
        await call
    assert refused.value.data["reason"] == "storage_full"
    assert await world.dump() == before


async def test_create_is_refused_and_writes_nothing(world: World, fill: Fill) -> None:  # F30
    await fill()
    await expect_refusal(world, world.create())


async def test_create_is_refused_whatever_there_is_to_tidy_up(world: World, fill: Fill) -> None:
    """A script that has already written something is no longer stopped by the server."""
    await world.expire(await world.create("ada"))
    await fill()
    await expect_refusal(world, world.create("ada"))


async def test_create_is_refused_where_the_script_is_not_known(world: World, fill: Fill) -> None:
    await world.redis.script_flush()
    await fill()
    await expect_refusal(world, world.create())


async def test_a_create_sent_again_is_a_success(world: World, fill: Fill) -> None:
    task = new_task()
    created_at = await world.tasks.create(task)
    await fill()
    assert await world.tasks.create(task) == created_at


async def test_report_is_refused(world: World, fill: Fill) -> None:
    run = await world.start()
    await fill()
    await expect_refusal(world, world.runs.report(run.task_id, run.run, {"status_message": "x"}))


async def test_running_tasks_finish(world: World, fill: Fill) -> None:
    run = await world.start()
    await fill()
    assert await finish(world, run) is Verdict.DONE


async def test_waiting_tasks_are_run(world: World, fill: Fill) -> None:
    task_id = await world.create()
    await fill()
    assert (await world.claim_one()).task_id == task_id


async def test_everything_else_goes_on(world: World, fill: Fill) -> None:
    cancelled, retried, lost, expired = [await world.start() for _ in range(4)]
    await world.expire(expired.task_id)
    await world.lose_lease(lost.task_id)
    await fill()
    assert await world.runs.sweep() == {expired.task_id: "working"}
    assert await world.runs.recover() == {lost.task_id: "requeued"}
    assert world.beat(cancelled, retried) == {}
    assert (await world.tasks.cancel(cancelled.task_id, "ada", "")).status == "cancelled"
    assert await world.runs.requeue(retried.task_id, retried.run, "retry", 1_000) is Verdict.DONE
    await world.runs.leave("w1")


async def test_reads_go_on(world: World, fill: Fill) -> None:
    task_id = await world.create()
    await fill()
    assert (await world.tasks.get(task_id, "ada")).status == "working"
    assert (await world.tasks.get_progress(task_id, "ada")).status == "working"
    assert await world.tasks.get_statuses([task_id]) == ["working"]
    tasks, _ = await world.tasks.list_page("ada", 10, None)
    assert [task.id for task in tasks] == [task_id]
