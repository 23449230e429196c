"""cancel: a task is cancelled for its owner, at once and for ever."""

import asyncio
from collections.abc import Awaitable

import pytest

from receiver.protocol.errors import TaskAlreadyFinished, TaskNotFound
from receiver.protocol.task_id import new_task_id
from tests.store.world import ADA, DONE, FAILED, LABEL, World, finish


async def test_the_answer_is_the_cancelled_task(world: World) -> None:  # T-69
    task_id = await world.create()
    task = await world.tasks.cancel(ADA, task_id, "enough")
    assert (task.status, task.status_message) == ("cancelled", "enough")
    assert task == await world.tasks.get(ADA, task_id)


async def test_a_waiting_task_is_never_run(world: World) -> None:  # F41
    task_id = await world.create()
    await world.tasks.cancel(ADA, task_id, "")
    assert await world.ready() == []
    assert await world.claim() == []
    for key in (world.keys.arq_job(task_id), world.keys.active("ada"), world.keys.fair("default")):
        assert not await world.redis.exists(key)


async def test_a_running_task_is_taken_from_its_worker_which_is_told(world: World) -> None:
    run = await world.start("w1")
    async with world.listening(world.keys.signals("w1")) as heard:
        await world.tasks.cancel(ADA, run.task_id, "")
        assert await heard() == run.task_id
    assert await world.members(world.keys.leases()) == []
    assert await world.redis.hexists(world.keys.held("w1"), run.task_id) == 0


async def test_waiters_are_told(world: World) -> None:
    task_id = await world.create()
    async with world.listening(world.keys.events(task_id)) as heard:
        await world.tasks.cancel(ADA, task_id, "")
        assert await heard() == "cancelled"


async def test_the_run_that_was_cancelled_can_no_longer_finish(world: World) -> None:  # T-70, F40
    run = await world.start()
    await world.tasks.cancel(ADA, run.task_id, "")
    before = await world.dump()
    assert await finish(world, run) == -3
    assert await world.dump() == before


async def test_a_task_that_lost_its_worker_can_be_cancelled(world: World) -> None:
    run = await world.start()
    await world.lose_lease(run.task_id)
    await world.recover()
    await world.tasks.cancel(ADA, run.task_id, "")
    assert await world.ready() == []


async def test_input_required_can_be_cancelled(world: World) -> None:
    run = await world.start()
    await world.set_status(run.task_id, "input_required")
    assert (await world.tasks.cancel(ADA, run.task_id, "")).status == "cancelled"
    assert await world.members(world.keys.status("input_required", LABEL)) == []


@pytest.mark.parametrize(("outcome", "status"), [(DONE, "completed"), (FAILED, "failed")])
async def test_a_finished_task_stays_as_it_is(world: World, outcome: object, status: str) -> None:  # T-67
    run = await world.start()
    await finish(world, run, outcome)  # type: ignore[arg-type]
    before = await world.dump()
    with pytest.raises(TaskAlreadyFinished) as refused:
        await world.tasks.cancel(ADA, run.task_id, "")
    assert refused.value.message == f"Task is already {status}"
    assert await world.dump() == before


async def test_of_a_cancel_and_a_finish_exactly_one_wins(world: World) -> None:  # F40
    for _ in range(30):
        await world.create()
    for number, run in enumerate(await world.claim(free=30)):
        calls: list[Awaitable[object]] = [finish(world, run), world.tasks.cancel(ADA, run.task_id, "")]
        results = await asyncio.gather(*calls[:: 1 if number % 2 else -1], return_exceptions=True)
        status = (await world.tasks.get(ADA, run.task_id)).status
        losers = [result for result in results if isinstance(result, TaskAlreadyFinished) or result == -3]
        assert len(losers) == 1
        assert isinstance(losers[0], TaskAlreadyFinished) == (status == "completed")


async def test_a_second_cancel_is_refused(world: World) -> None:  # T-67
    task_id = await world.create()
    await world.tasks.cancel(ADA, task_id, "")
    with pytest.raises(TaskAlreadyFinished):
        await world.tasks.cancel(ADA, task_id, "")


async def test_sent_again_when_its_reply_was_lost(world: World) -> None:
    run = await world.start()
    async with world.losing_replies() as lossy:
        task = await lossy.tasks.cancel(ADA, run.task_id, "enough")
    assert task.status == "cancelled"
    assert task == await world.tasks.get(ADA, run.task_id)
    assert await world.members(world.keys.status("cancelled", LABEL)) == [run.task_id]


async def test_foreign_unknown_malformed_and_expired_tasks_are_not_found(world: World) -> None:  # T-76, T-89
    theirs, expired = await world.create("bob"), await world.create("ada")
    plain = await world.create("ada", queue="plain", kind="call")
    await world.forget(expired)
    before = await world.dump()
    for task_id in (theirs, expired, plain, new_task_id(), "", "0-", None, 7, "*", f"{theirs}\n", f"x:{theirs}"):
        with pytest.raises(TaskNotFound) as refused:
            await world.tasks.cancel(ADA, task_id, "")
        assert str(refused.value) == "Task not found"
    assert await world.dump() == before
