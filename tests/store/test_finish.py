"""finish: the outcome and the status in one step, for the run that holds the fence and for no other."""

import pytest

from receiver.protocol.errors import InvalidParams
from receiver.protocol.outcome import Outcome
from receiver.store.runs import Verdict
from tests.store.world import ADA, DONE, FAILED, LABEL, World, finish


async def test_status_and_outcome_are_visible_together(world: World) -> None:
    run = await world.start()
    assert await finish(world, run, DONE) is Verdict.DONE
    progress = await world.tasks.get_progress(ADA, run.task_id)
    assert (progress.status, progress.outcome, progress.payload) == ("completed", "result", DONE.payload)


async def test_a_result_that_is_an_error_fails_the_task_and_says_why(world: World) -> None:  # T-75, T-82
    run = await world.start()
    await finish(world, run, FAILED)
    task = await world.tasks.get(ADA, run.task_id)
    assert (task.status, task.status_message) == ("failed", "no")


async def test_an_error_is_kept_as_it_is(world: World) -> None:  # T-83
    run = await world.start()
    error = Outcome.of_error(InvalidParams("wrong", data={"é": [1, None]}))
    await finish(world, run, error)
    progress = await world.tasks.get_progress(ADA, run.task_id)
    assert (progress.status, progress.outcome, progress.payload) == ("failed", "error", error.payload)


async def test_a_payload_of_any_bytes_is_kept(world: World) -> None:
    run = await world.start()
    payload = bytes(range(256)) * 400
    await finish(world, run, Outcome("result", payload))
    assert (await world.tasks.get_progress(ADA, run.task_id)).payload == payload


async def test_what_the_run_said_last_stays_when_it_completes(world: World) -> None:
    run = await world.start()
    await world.runs.report(run.task_id, run.run, {"status_message": "page 3 of 3"})
    await finish(world, run, DONE)
    assert (await world.tasks.get(ADA, run.task_id)).status_message == "page 3 of 3"


async def test_the_time_of_the_finish_is_the_time_of_the_update(world: World) -> None:  # T-42
    run = await world.start()
    before = await world.now()
    await finish(world, run)
    record = await world.record(run.task_id)
    assert before <= int(record["finished_at"]) <= await world.now()
    assert record["updated_at"] == record["finished_at"]


async def test_an_update_is_never_older_than_the_last(world: World) -> None:
    run = await world.start()
    ahead = await world.now() + 5_000
    await world.redis.hset(world.keys.task(run.task_id), "updated_at", ahead)  # a failover may turn the clock back
    await finish(world, run)
    assert (await world.tasks.get(ADA, run.task_id)).updated_at == ahead


async def test_only_the_record_and_the_indexes_stay(world: World) -> None:
    run = await world.start(queue="default:draw")
    await finish(world, run)
    keys = world.keys
    left = {keys.task(run.task_id), keys.owner("ada"), keys.status("completed", LABEL), keys.expiry()}
    others = {keys.served(), keys.clock(), keys.held("w1"), keys.bell("default:draw"), keys.labels()}
    assert {key for key in await world.dump() if not key.startswith(keys.tally(""))} == left | others
    assert await world.redis.hkeys(keys.held("w1")) == [b"claim"]
    assert await world.members(keys.status("completed", LABEL)) == [run.task_id]
    assert "lease_until" not in await world.record(run.task_id)


async def test_the_ttl_stays(world: World) -> None:
    run = await world.start()
    before = await world.redis.pexpiretime(world.keys.task(run.task_id))
    await finish(world, run)
    assert await world.redis.pexpiretime(world.keys.task(run.task_id)) == before


async def test_sent_again_when_its_reply_was_lost(world: World) -> None:
    run = await world.start()
    async with world.losing_replies() as lossy:
        assert await finish(lossy, run, DONE) is Verdict.DONE
    assert (await world.tasks.get_progress(ADA, run.task_id)).payload == DONE.payload
    assert await world.members(world.keys.status("completed", LABEL)) == [run.task_id]


async def test_a_second_finish_is_refused(world: World) -> None:  # T-34
    run = await world.start()
    await finish(world, run, DONE)
    before = await world.dump()
    assert await finish(world, run, FAILED) is Verdict.TERMINAL
    assert await world.dump() == before


async def test_an_older_run_touches_nothing(world: World) -> None:
    old = await world.start("w1")
    await world.lose_lease(old.task_id)
    await world.claim_one("w2")
    before = await world.dump()
    assert await finish(world, old) is Verdict.SUPERSEDED
    assert await world.dump() == before


async def test_a_run_that_was_given_back_touches_nothing(world: World) -> None:
    run = await world.start()
    await world.runs.requeue(run.task_id, run.run, "handed_back")
    before = await world.dump()
    assert await finish(world, run) is Verdict.HANDED_BACK
    assert await world.dump() == before


async def test_a_run_that_never_was_touches_nothing(world: World) -> None:
    task_id = await world.create()
    before = await world.dump()
    assert await world.runs.finish(task_id, 0, DONE) is Verdict.HANDED_BACK
    assert await world.runs.finish(task_id, 1, DONE) is Verdict.SUPERSEDED
    assert await world.dump() == before


async def test_a_run_that_lost_its_lease_may_finish_until_another_begins(world: World) -> None:
    run = await world.start()
    await world.lose_lease(run.task_id)
    await world.recover()
    assert await finish(world, run) is Verdict.DONE
    assert await world.ready() == []
    assert await world.claim("w2") == []


async def test_an_expired_task_is_not_revived(world: World) -> None:
    run = await world.start()
    await world.forget(run.task_id)
    before = await world.dump()
    assert await finish(world, run) is Verdict.GONE
    assert await world.dump() == before


@pytest.mark.parametrize("outcome", [DONE, FAILED])
async def test_waiters_are_told(world: World, outcome: Outcome) -> None:
    run = await world.start()
    async with world.listening(world.keys.events(run.task_id)) as heard:
        await finish(world, run, outcome)
        assert await heard() == outcome.status
