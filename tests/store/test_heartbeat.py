"""heartbeat: renews leases, says which runs must stop, and gives back what a lost claim left behind."""

import asyncio

import pytest

from receiver.store.record import ClaimedRun
from tests.store.world import ADA, LEASE, World, finish

# Leases


async def test_a_lease_is_renewed(world: World) -> None:
    run = await world.start()
    await world.redis.zadd(world.keys.leases(), {run.task_id: 1})
    before = await world.now()
    assert world.beat(run) == {}
    end = await world.redis.zscore(world.keys.leases(), run.task_id)
    assert before + LEASE <= end <= await world.now() + LEASE
    assert int((await world.record(run.task_id))["lease_until"]) == end


async def test_a_heartbeat_is_no_change_to_requestors(world: World) -> None:
    run = await world.start()
    before = await world.tasks.get(ADA, run.task_id)
    world.beat(run)
    assert await world.tasks.get(ADA, run.task_id) == before


async def test_a_task_that_was_put_back_meanwhile_is_taken_again(world: World) -> None:
    run = await world.start(queue="default:draw")
    await world.lose_lease(run.task_id)
    await world.recover()
    assert await world.ready("default:draw") == [run.task_id]
    assert world.beat(run) == {}
    assert await world.ready("default:draw") == []
    assert await world.members(world.keys.running("draw")) == [run.task_id]
    record = await world.record(run.task_id)
    assert (record["worker"], record["run"], record["attempt"]) == ("w1", "1", "1")
    assert "lost" not in record
    assert await world.claim("w2") == []


async def test_a_task_in_input_required_is_renewed_too(world: World) -> None:
    run = await world.start()
    await world.set_status(run.task_id, "input_required")
    await world.redis.zadd(world.keys.leases(), {run.task_id: 1})
    assert world.beat(run) == {}
    assert await world.redis.zscore(world.keys.leases(), run.task_id) > 1


async def test_sent_again_when_its_reply_was_lost(world: World) -> None:
    run, other = await world.start(), await world.start()
    await finish(world, other)
    async with world.losing_replies() as lossy:
        stops = await asyncio.to_thread(lossy.beat_until_heard, run, other, acknowledged=2)
    assert stops == {other.task_id: "finished"}
    assert await world.redis.zscore(world.keys.leases(), run.task_id) > await world.now()


# Verdicts


async def test_expired(world: World) -> None:
    run = await world.start()
    await world.forget(run.task_id)
    before = await world.redis.zscore(world.keys.leases(), run.task_id)
    assert world.beat(run) == {run.task_id: "expired"}
    assert not await world.redis.exists(world.keys.task(run.task_id))
    assert await world.redis.zscore(world.keys.leases(), run.task_id) == before


async def test_superseded(world: World) -> None:
    old = await world.start("w1")
    await world.lose_lease(old.task_id)
    await world.claim_one("w2")
    before = await world.record(old.task_id)
    lease = await world.redis.zscore(world.keys.leases(), old.task_id)
    assert world.beat(old) == {old.task_id: "superseded"}
    assert await world.record(old.task_id) == before
    assert await world.redis.zscore(world.keys.leases(), old.task_id) == lease
    assert await world.redis.hget(world.keys.held("w2"), old.task_id) == b"1"


async def test_an_older_run_on_the_same_worker_is_superseded(world: World) -> None:
    old = await world.start("w1")
    await world.lose_lease(old.task_id)
    await world.recover()
    new = await world.claim_one("w1")
    assert world.beat(old) == {old.task_id: "superseded"}
    assert (await world.record(old.task_id))["run"] == str(new.run)


async def test_a_run_that_was_given_back_must_stop(world: World) -> None:
    run = await world.start()
    await world.runs.requeue(run.task_id, run.run, "handed_back")
    assert world.beat(run) == {run.task_id: "superseded"}
    assert await world.ready() == [run.task_id]


async def test_finished(world: World) -> None:
    run = await world.start()
    await finish(world, run)
    assert world.beat(run) == {run.task_id: "finished"}
    assert await world.members(world.keys.leases()) == []


async def test_failed_as_lost(world: World) -> None:
    run = await world.start(max_attempts=1)
    await world.lose_lease(run.task_id)
    assert await world.recover() == {run.task_id: "failed"}
    assert world.beat(run) == {run.task_id: "finished"}


async def test_cancelled(world: World) -> None:
    run = await world.start()
    await world.tasks.cancel(ADA, run.task_id, "")
    assert world.beat(run) == {run.task_id: "cancelled"}


async def test_each_run_has_its_own_verdict(world: World) -> None:
    runs = [await world.start() for _ in range(3)]
    await finish(world, runs[0])
    await world.tasks.cancel(ADA, runs[2].task_id, "")
    stops = world.beat(*runs)
    assert stops == {runs[0].task_id: "finished", runs[2].task_id: "cancelled"}


# Claims whose reply was lost


async def claim_unheard(world: World) -> ClaimedRun:
    """A claim with the number 5, of which the worker knows nothing."""
    await world.create()
    return await world.claim_one("w1", number=5)


async def test_a_task_of_a_claim_that_was_never_heard_goes_back(world: World) -> None:
    run = await claim_unheard(world)
    await world.silence()
    assert world.beat(acknowledged=6) == {}
    assert await world.ready() == [run.task_id]
    assert await world.rings()
    again = await world.claim_one("w2")
    assert (again.run, again.attempt) == (2, 1)


async def test_a_claim_that_is_still_under_way_is_left_alone(world: World) -> None:
    run = await claim_unheard(world)
    before = await world.record(run.task_id)
    assert world.beat(acknowledged=4) == {}
    assert await world.record(run.task_id) == before
    assert await world.ready() == []


async def test_a_late_heartbeat_does_not_touch_a_newer_claim(world: World) -> None:
    """A beat that was sent before the claim, and arrives after the next one."""
    first = await world.start("w1")
    second = await world.start("w1")
    assert world.beat(first, acknowledged=1) == {}
    assert (await world.record(second.task_id))["worker"] == "w1"


async def test_an_ended_task_is_not_given_back(world: World) -> None:
    run = await claim_unheard(world)
    await world.tasks.cancel(ADA, run.task_id, "")
    world.beat(acknowledged=5)
    assert await world.ready() == []
    assert (await world.tasks.get(ADA, run.task_id)).status == "cancelled"


async def test_an_expired_task_is_not_given_back(world: World) -> None:
    run = await claim_unheard(world)
    await world.expire(run.task_id)
    world.beat(acknowledged=5)
    assert await world.ready() == []
    assert not await world.redis.exists(world.keys.task(run.task_id))
    assert await world.redis.hexists(world.keys.held("w1"), run.task_id) == 0


async def test_a_run_of_another_worker_is_not_given_back(world: World) -> None:
    run = await claim_unheard(world)
    await world.lose_lease(run.task_id)
    await world.claim_one("w2")
    await world.redis.hset(world.keys.held("w1"), run.task_id, 5)
    world.beat(acknowledged=5)
    assert await world.ready() == []
    assert (await world.record(run.task_id))["worker"] == "w2"


async def test_a_run_that_went_on_and_ended_unheard_is_given_back(world: World) -> None:
    run = await world.start("w1")
    await world.lose_lease(run.task_id)
    await world.recover()
    await world.claim("w1", running={run.task_id: run.run})
    assert world.beat() == {}
    assert await world.ready() == [run.task_id]


@pytest.mark.parametrize("was_lost", [False, True])
async def test_a_run_that_was_renewed_and_is_no_longer_there_is_given_back(world: World, was_lost: bool) -> None:
    run = await world.start("w1")
    if was_lost:
        await world.lose_lease(run.task_id)
        await world.recover()
    world.beat(run)
    assert await world.ready() == []
    world.beat()
    assert await world.ready() == [run.task_id]


# Presence


async def test_operators_see_the_worker(world: World) -> None:
    before = await world.now()
    world.beats.beat("w1", 0, {"host": "here", "pid": 7}, {})
    seen = await world.redis.hgetall(world.keys.worker("w1"))
    assert (seen[b"host"], seen[b"pid"]) == (b"here", b"7")
    assert before <= int(seen[b"seen_at"]) <= await world.now()
    assert await world.redis.zscore(world.keys.workers(), "w1") == int(seen[b"seen_at"])


async def test_the_worker_is_forgotten_when_it_is_silent(world: World) -> None:
    run = await world.start("w1")
    world.beat(run)
    for key in (world.keys.worker("w1"), world.keys.held("w1")):
        assert 9 * LEASE < await world.redis.pttl(key) <= 10 * LEASE


async def test_a_worker_may_have_nothing_to_say(world: World) -> None:
    assert world.beats.beat("w1", 0, {}, {}) == {}


async def test_many_runs_in_one_beat(world: World) -> None:
    for _ in range(200):
        await world.create()
    assert world.beat(*await world.claim(free=200)) == {}


# leave


async def test_a_worker_that_leaves_gives_everything_back(world: World) -> None:
    run = await world.start("w1")
    world.beat(run)
    await world.silence()
    await world.runs.leave("w1")
    assert await world.ready() == [run.task_id]
    assert await world.rings()
    assert (await world.claim_one("w2")).attempt == 1
    assert await world.members(world.keys.workers()) == []
    assert not await world.redis.exists(world.keys.worker("w1"), world.keys.held("w1"))


async def test_leaving_is_sent_again_when_its_reply_was_lost(world: World) -> None:
    run = await world.start("w1")
    async with world.losing_replies() as lossy:
        await lossy.runs.leave("w1")
    assert await world.ready() == [run.task_id]


async def test_leaving_takes_nothing_from_another_worker(world: World) -> None:
    run = await world.start("w1")
    await world.lose_lease(run.task_id)
    await world.claim_one("w2")
    await world.runs.leave("w1")
    assert (await world.record(run.task_id))["worker"] == "w2"
    assert await world.ready() == []


async def test_leaving_does_not_give_back_what_must_not_be_run_again(world: World) -> None:
    run = await world.start("w1", max_attempts=1)
    await world.runs.leave("w1", [run.task_id])
    assert await world.ready() == []
    await world.lose_lease(run.task_id)
    await world.runs.recover()
    record = await world.record(run.task_id)
    assert (record["status"], record["status_message"]) == ("failed", "The worker was lost once")


async def test_a_run_may_be_held_and_not_renewed(world: World) -> None:
    run = await world.start("w1")
    before = await world.record(run.task_id)
    assert world.beats.beat("w1", 1, {}, {run.task_id: None}) == {}
    assert await world.record(run.task_id) == before
    assert await world.ready() == []
