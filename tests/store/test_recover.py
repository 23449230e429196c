"""recover: what becomes of tasks whose worker is silent, and when it is not the worker's fault."""

import pytest

from receiver.protocol.errors import WorkerLost
from receiver.protocol.outcome import Outcome
from tests.store.world import ADA, LEASE, World, finish, share

# A lost worker


async def test_a_task_goes_back_to_its_old_place(world: World) -> None:
    first = await world.start()
    second = await world.create()
    await world.silence()
    await world.lose_lease(first.task_id)
    assert await world.recover() == {first.task_id: "requeued"}
    assert await world.ready() == [first.task_id, second]
    assert await world.rings()
    record = await world.record(first.task_id)
    assert (record["status"], record["worker"], record["run"], record["attempt"]) == ("working", "", "1", "1")
    assert "lease_until" not in record
    assert await world.members(world.keys.leases()) == []
    assert await world.redis.hexists(world.keys.held("w1"), first.task_id) == 0


async def test_a_recovery_is_no_change_to_requestors(world: World) -> None:
    run = await world.start()
    before = await world.tasks.get(ADA, run.task_id)
    await world.lose_lease(run.task_id)
    await world.recover()
    assert await world.tasks.get(ADA, run.task_id) == before


async def test_a_place_under_the_cap_is_free_again(world: World) -> None:
    run = await world.start(queue="default:draw")
    await world.create(queue="default:draw")
    await world.lose_lease(run.task_id)
    await world.recover()
    assert (await world.claim_one("w2", queues=share("default:draw"))).task_id == run.task_id


async def test_a_lease_that_has_not_ended_is_left_alone(world: World) -> None:
    run = await world.start()
    await world.calm()
    before = await world.record(run.task_id)
    assert await world.runs.recover() == {}
    assert await world.record(run.task_id) == before


@pytest.mark.parametrize("attempts", [1, 3])
async def test_a_task_whose_attempts_are_spent_fails(world: World, attempts: int) -> None:
    await world.create(max_attempts=attempts)
    for _ in range(attempts):
        run = await world.claim_one()
        await world.lose_lease(run.task_id)
        verdicts = await world.recover()
    assert verdicts == {run.task_id: "failed"}
    expected = Outcome.of_error(WorkerLost(attempts))
    task = await world.tasks.get(ADA, run.task_id)
    progress = await world.tasks.get_progress(ADA, run.task_id)
    assert (task.status, task.status_message) == ("failed", expected.diagnosis)
    assert (progress.outcome, progress.payload) == ("error", expected.payload)
    assert await world.claim("w2") == []
    assert await world.members(world.keys.active("ada")) == []
    assert not await world.redis.exists(world.keys.arq_job(run.task_id))


async def test_only_attempts_that_were_lost_count_as_lost(world: World) -> None:
    run = await world.start(max_attempts=4)
    await world.runs.requeue(run.task_id, run.run, "retry")
    await world.claim_one()
    await world.lose_lease(run.task_id)
    handed_back = await world.claim_one("w2")
    await world.runs.requeue(run.task_id, handed_back.run, "handed_back")
    await world.claim_one("w3")
    await world.lose_lease(run.task_id)
    await world.recover()
    recovered = await world.claim_one("w4")
    assert (recovered.run, recovered.attempt) == (5, 4)
    await world.lose_lease(run.task_id)
    assert await world.recover() == {run.task_id: "failed"}
    assert (await world.tasks.get_progress(ADA, run.task_id)).payload == Outcome.of_error(WorkerLost(3)).payload


async def test_a_worker_that_came_back_in_time_was_not_lost(world: World) -> None:
    run = await world.start(max_attempts=2)
    await world.lose_lease(run.task_id)
    await world.recover()
    world.beat(run)
    await world.redis.hset(world.keys.task(run.task_id), "max_attempts", 1)
    await world.lose_lease(run.task_id)
    assert await world.recover() == {run.task_id: "failed"}
    assert (await world.tasks.get(ADA, run.task_id)).status_message == "The worker was lost once"


async def test_waiters_hear_of_a_task_that_failed(world: World) -> None:
    run = await world.start(max_attempts=1)
    await world.lose_lease(run.task_id)
    async with world.listening(world.keys.events(run.task_id)) as heard:
        await world.recover()
        assert await heard() == "failed"


async def test_a_task_that_expired_is_let_go(world: World) -> None:
    run = await world.start()
    await world.forget(run.task_id)
    await world.lose_lease(run.task_id)
    assert await world.recover() == {run.task_id: "gone"}
    assert not await world.redis.exists(world.keys.task(run.task_id))
    assert await world.members(world.keys.leases()) == []


async def test_sent_again_when_its_reply_was_lost(world: World) -> None:
    """The second reply can't tell what the first one did; what was done is done once."""
    lost, spent = await world.start(), await world.start(max_attempts=1)
    await world.lose_lease(lost.task_id, spent.task_id)
    async with world.losing_replies() as lossy:
        assert await lossy.runs.recover() == {}
    assert await world.ready() == [lost.task_id]
    assert (await world.claim_one("w2")).attempt == 2
    assert (await world.tasks.get(ADA, spent.task_id)).status == "failed"


async def test_two_recoverers_share_the_work(world: World) -> None:  # F49
    runs = [await world.start() for _ in range(5)]
    await world.lose_lease(*(run.task_id for run in runs))
    found = [await world.runs.recover(limit) for limit in (2, 2, 2)]
    assert [len(verdicts) for verdicts in found] == [2, 2, 1]
    assert await world.ready() == [run.task_id for run in runs]


async def test_a_run_with_a_finished_outcome_is_never_recovered(world: World) -> None:
    run = await world.start()
    await finish(world, run)
    await world.lose_lease(run.task_id)
    await world.redis.zrem(world.keys.leases(), run.task_id)
    assert await world.recover() == {}


# An outage of the store is not a lost worker


async def last_heard(world: World, ago: float) -> None:
    """As if the last script of any worker had run ``ago`` leases before now."""
    await world.redis.hset(
        world.keys.clock(), mapping={"seen": round(await world.now() - ago * LEASE), "hold_until": 0}
    )


async def test_after_a_silence_no_lease_is_taken_over_for_one_lease(world: World) -> None:
    run = await world.start()
    await world.lose_lease(run.task_id)
    await last_heard(world, 0.6)
    before = await world.now()
    assert await world.runs.recover() == {}
    hold = int(await world.redis.hget(world.keys.clock(), "hold_until"))
    assert before + LEASE <= hold <= await world.now() + LEASE
    assert await world.runs.recover() == {}
    assert await world.claim("w2") == []
    await world.redis.hset(world.keys.clock(), "hold_until", await world.now())
    assert await world.runs.recover() == {run.task_id: "requeued"}


async def test_a_short_silence_is_no_outage(world: World) -> None:
    run = await world.start()
    await world.lose_lease(run.task_id)
    await last_heard(world, 0.4)
    assert await world.runs.recover() == {run.task_id: "requeued"}


async def test_the_first_worker_ever_holds_back_too(world: World) -> None:
    """A store whose clock was never kept, as after a restore, has been silent for who knows how long."""
    run = await world.start()
    await world.redis.zadd(world.keys.leases(), {run.task_id: 1})
    await world.redis.delete(world.keys.clock())
    assert await world.runs.recover() == {}


@pytest.mark.parametrize("script", ["claim", "heartbeat", "recover"])
async def test_every_script_of_workers_is_a_sign_of_life(world: World, script: str) -> None:
    await last_heard(world, 0.4)
    before = await world.now()
    if script == "claim":
        await world.claim()
    elif script == "heartbeat":
        world.beat()
    else:
        await world.runs.recover()
    assert int(await world.redis.hget(world.keys.clock(), "seen")) >= before
    assert await world.redis.hget(world.keys.clock(), "hold_until") == b"0"


async def test_a_heartbeat_after_a_silence_holds_recovery_back(world: World) -> None:
    run = await world.start("w1")
    other = await world.start("w2")
    await world.lose_lease(run.task_id, other.task_id)
    await last_heard(world, 3)
    world.beat(other, worker="w2")
    assert await world.runs.recover() == {}
    assert world.beat(run) == {}
    assert await finish(world, run) == 1


async def test_new_tasks_are_claimed_during_the_hold(world: World) -> None:
    task_id = await world.create()
    await last_heard(world, 3)
    assert (await world.claim_one("w2")).task_id == task_id
