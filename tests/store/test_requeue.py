"""requeue: a run given back to the queue, at once or for later."""

import pytest

from receiver.store.runs import Verdict
from tests.store.world import ADA, World, finish


async def test_a_run_that_is_handed_back_stands_where_it_stood(world: World) -> None:
    run = await world.start()
    later = await world.create()
    await world.silence()
    assert await world.runs.requeue(run.task_id, run.run, "handed_back") is Verdict.DONE
    assert await world.ready() == [run.task_id, later]
    assert await world.rings()
    record = await world.record(run.task_id)
    assert (record["worker"], record["status"], record["run"]) == ("", "working", "1")
    assert "lease_until" not in record
    assert await world.members(world.keys.leases()) == []
    assert await world.redis.hexists(world.keys.held("w1"), run.task_id) == 0


async def test_a_place_under_the_cap_is_given_back_too(world: World) -> None:
    run = await world.start(queue="default:draw")
    await world.runs.requeue(run.task_id, run.run, "handed_back")
    assert await world.members(world.keys.running("draw")) == []


@pytest.mark.parametrize("reason", ["retry", "handed_back"])
async def test_a_delay_keeps_it_out_of_the_queue(world: World, reason: str) -> None:
    run = await world.start()
    before = await world.now()
    await world.runs.requeue(run.task_id, run.run, reason, 30_000)  # type: ignore[arg-type]
    due = await world.redis.zscore(world.keys.later(), run.task_id)
    assert before + 30_000 <= due <= await world.now() + 30_000
    assert await world.ready() == []


async def test_a_delay_that_begins_wakes_a_worker_that_learns_of_it(world: World) -> None:
    run = await world.start()
    await world.silence()
    await world.runs.requeue(run.task_id, run.run, "retry", 30_000)
    assert await world.rings()


async def test_a_delayed_hand_back_does_not_count_either(world: World) -> None:
    run = await world.start()
    await world.runs.requeue(run.task_id, run.run, "handed_back", 30_000)
    await world.redis.zadd(world.keys.later(), {run.task_id: 1})
    assert (await world.claim_one("w2")).attempt == 1


async def test_retries_are_numbered_one_by_one(world: World) -> None:
    run = await world.start(max_attempts=9)
    for expected in (2, 3, 4):
        await world.runs.requeue(run.task_id, run.run, "retry")
        run = await world.claim_one()
        assert (run.run, run.attempt) == (expected, expected)


@pytest.mark.parametrize(("reason", "attempt"), [("retry", 2), ("handed_back", 1)])
async def test_sent_again_when_its_reply_was_lost(world: World, reason: str, attempt: int) -> None:
    run = await world.start()
    async with world.losing_replies() as lossy:
        assert await lossy.runs.requeue(run.task_id, run.run, reason) is Verdict.DONE  # type: ignore[arg-type]
    assert await world.ready() == [run.task_id]
    assert (await world.claim_one("w2")).attempt == attempt


async def test_sent_again_after_another_run_began_it_changes_nothing(world: World) -> None:
    run = await world.start()
    arguments = (run.task_id, run.run, "nonce", "handed_back", 0)
    await world.client.call("requeue", *arguments)
    await world.claim_one("w2")
    before = await world.dump()
    assert await world.client.call("requeue", *arguments) == Verdict.DONE
    assert await world.dump() == before


async def test_a_second_requeue_is_refused(world: World) -> None:
    run = await world.start()
    await world.runs.requeue(run.task_id, run.run, "retry", 30_000)
    before = await world.dump()
    assert await world.runs.requeue(run.task_id, run.run, "handed_back") is Verdict.HANDED_BACK
    assert await world.dump() == before


async def test_an_older_run_touches_nothing(world: World) -> None:
    old = await world.start("w1")
    await world.lose_lease(old.task_id)
    await world.claim_one("w2")
    before = await world.dump()
    for reason in ("retry", "handed_back"):
        assert await world.runs.requeue(old.task_id, old.run, reason) is Verdict.SUPERSEDED
    assert await world.dump() == before


async def test_an_ended_task_is_not_queued_again(world: World) -> None:  # T-34
    run = await world.start()
    await finish(world, run)
    before = await world.dump()
    assert await world.runs.requeue(run.task_id, run.run, "retry") is Verdict.TERMINAL
    assert await world.dump() == before


async def test_an_expired_task_is_not_revived(world: World) -> None:
    run = await world.start()
    await world.forget(run.task_id)
    before = await world.dump()
    assert await world.runs.requeue(run.task_id, run.run, "handed_back") is Verdict.GONE
    assert await world.dump() == before


async def test_a_lost_run_that_hands_back_was_not_lost(world: World) -> None:
    run = await world.start()
    await world.lose_lease(run.task_id)
    await world.recover()
    assert await world.runs.requeue(run.task_id, run.run, "handed_back") is Verdict.DONE
    assert (await world.claim_one("w2")).attempt == 1


async def test_a_task_that_waits_for_its_time_can_be_cancelled(world: World) -> None:
    run = await world.start()
    await world.runs.requeue(run.task_id, run.run, "retry", 30_000)
    await world.tasks.cancel(ADA, run.task_id, "")
    assert await world.members(world.keys.later()) == []
