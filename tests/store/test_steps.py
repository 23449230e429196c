"""What runs record for later runs of their task."""

import pytest

from receiver.protocol.errors import Refused
from receiver.store.runs import Verdict
from receiver.store.steps import Recorded
from tests.store.world import ADA, World, finish

STEP = "step/fetch#1"
ONE = Recorded("digest", b'{"pages":3}')


async def test_a_later_run_finds_what_was_recorded(world: World) -> None:
    run = await world.start()
    assert await world.steps.recall(run.task_id, run.run, STEP) is Verdict.DONE
    assert await world.steps.remember(run.task_id, run.run, STEP, ONE) is Verdict.DONE
    await world.lose_lease(run.task_id)
    later = await world.claim_one("w2")
    assert await world.steps.recall(later.task_id, later.run, STEP) == ONE
    assert await world.steps.recall(later.task_id, later.run, "step/fetch#2") is Verdict.DONE
    key, task = world.keys.steps(run.task_id), world.keys.task(run.task_id)
    assert await world.redis.pexpiretime(key) == await world.redis.pexpiretime(task)


async def test_a_sleep_ends_when_the_first_run_said(world: World) -> None:
    run = await world.start()
    left = await world.steps.sleep(run.task_id, run.run, "sleep#1", 50_000)
    assert not isinstance(left, Verdict)
    assert left == 50_000
    await world.lose_lease(run.task_id)
    later = await world.claim_one("w2")
    left = await world.steps.sleep(later.task_id, later.run, "sleep#1", 3_600_000)
    assert not isinstance(left, Verdict)
    assert 0 < left <= 50_000
    await world.redis.hset(world.keys.steps(run.task_id), "sleep#1:due", 1)
    assert await world.steps.sleep(later.task_id, later.run, "sleep#1", 3_600_000) == 0
    key, task = world.keys.steps(run.task_id), world.keys.task(run.task_id)
    assert await world.redis.pexpiretime(key) == await world.redis.pexpiretime(task)


@pytest.mark.parametrize("how", ["finished", "cancelled", "expired", "handed back", "superseded"])
async def test_who_has_no_task_any_more_records_nothing_and_is_told_so_before(world: World, how: str) -> None:
    run = await world.start()
    if how == "finished":
        await finish(world, run)
    elif how == "cancelled":
        await world.tasks.cancel(ADA, run.task_id, "")
    elif how == "expired":
        await world.expire(run.task_id)
    else:
        await world.runs.requeue(run.task_id, run.run, "handed_back")
    if how == "superseded":
        await world.claim_one("w2")
    assert await world.steps.remember(run.task_id, run.run, STEP, ONE) is not Verdict.DONE
    assert isinstance(await world.steps.sleep(run.task_id, run.run, "sleep#1", 10), Verdict)
    told = await world.steps.recall(run.task_id, run.run, STEP)
    assert isinstance(told, Verdict)
    assert told is not Verdict.DONE
    assert not await world.redis.exists(world.keys.steps(run.task_id))


async def test_what_is_sent_again_is_recorded_once(world: World) -> None:
    run = await world.start()
    async with world.losing_replies() as lossy:
        assert await lossy.steps.remember(run.task_id, run.run, STEP, ONE) is Verdict.DONE
    async with world.losing_replies() as lossy:
        left = await lossy.steps.sleep(run.task_id, run.run, "sleep#1", 50_000)
    assert not isinstance(left, Verdict)
    assert 0 < left <= 50_000
    assert await world.steps.recall(run.task_id, run.run, STEP) == ONE


@pytest.mark.parametrize("backend", ["valkey", "redis"], indirect=True)
async def test_a_full_store_refuses_a_step_and_lets_sleep(world: World) -> None:
    run = await world.start()
    await world.redis.config_set("maxmemory", 1)
    try:
        with pytest.raises(Refused):
            await world.steps.remember(run.task_id, run.run, STEP, ONE)
        assert await world.steps.sleep(run.task_id, run.run, "sleep#1", 50_000) == 50_000
        assert await world.runs.park(run.task_id, run.run, ["sleep#1"])
    finally:
        await world.redis.config_set("maxmemory", 0)
