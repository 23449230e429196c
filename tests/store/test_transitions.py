"""The table of protocol/lifecycle.py against the scripts: all 25 pairs."""

from itertools import product

import pytest

from receiver.protocol.errors import TaskAlreadyFinished
from receiver.protocol.lifecycle import STATUSES, TERMINAL, Status, may_follow
from receiver.store.record import ClaimedRun
from tests.store.world import DONE, FAILED, World, finish


async def reach(world: World, status: Status) -> ClaimedRun:
    """The run of a task that is in ``status``."""
    run = await world.start()
    if status == "input_required":
        await world.set_status(run.task_id, status)
    elif status == "cancelled":
        await world.tasks.cancel(run.task_id, "ada", "")
    elif status in TERMINAL:
        await finish(world, run, DONE if status == "completed" else FAILED)
    return run


async def attempt(world: World, run: ClaimedRun, status: Status) -> None:
    """Everything that could bring the task to ``status``."""
    if status == "completed":
        await finish(world, run, DONE)
    elif status == "failed":
        await finish(world, run, FAILED)
        await world.redis.hset(world.keys.task(run.task_id), "max_attempts", 1)
        await world.lose_lease(run.task_id)
        await world.recover()
    elif status == "cancelled":
        try:
            await world.tasks.cancel(run.task_id, "ada", "")
        except TaskAlreadyFinished:
            return
    else:
        await world.runs.report(run.task_id, run.run, {"status_message": "at it"})
        world.beat(run)
        await world.runs.requeue(run.task_id, run.run, "retry")
        await world.recover()


@pytest.mark.parametrize(("before", "after"), list(product(STATUSES, repeat=2)))
async def test_what_the_table_forbids_the_scripts_refuse(world: World, before: Status, after: Status) -> None:
    run = await reach(world, before)
    await attempt(world, run, after)
    found = (await world.tasks.get(run.task_id, "ada")).status
    if after in TERMINAL and may_follow(before, after):
        assert found == after
    else:
        assert found == before  # no script of today leads to the two open statuses
    for status in STATUSES:
        assert await world.members(world.keys.status(status)) == ([run.task_id] if status == found else [])


@pytest.mark.parametrize("status", sorted(TERMINAL))
async def test_nothing_at_all_changes_an_ended_task(world: World, status: Status) -> None:  # T-34
    run = await reach(world, status)
    record = await world.record(run.task_id)
    for following in STATUSES:
        await attempt(world, run, following)
        await world.claim("w2")
        await world.runs.leave("w1")
    changed = await world.record(run.task_id)
    assert {**changed, "max_attempts": ""} == {**record, "max_attempts": ""}
