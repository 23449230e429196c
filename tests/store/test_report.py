"""report: what a run says of itself."""

from receiver.store.runs import Verdict
from tests.store.world import ADA, LABEL, World, finish


async def test_any_field_is_written_and_is_no_change_to_requestors(world: World) -> None:
    run = await world.start()
    before = await world.tasks.get(ADA, run.task_id)
    assert await world.runs.report(run.task_id, run.run, {"progress": 3, "total": b"10"}) is Verdict.DONE
    record = await world.record(run.task_id)
    assert (record["progress"], record["total"]) == ("3", "10")
    assert await world.tasks.get(ADA, run.task_id) == before


async def test_a_status_message_is_a_change(world: World) -> None:  # T-42
    run = await world.start()
    await world.redis.hset(world.keys.task(run.task_id), "updated_at", 1)
    assert await world.runs.report(run.task_id, run.run, {"status_message": "Seite 3"}) is Verdict.DONE
    task = await world.tasks.get(ADA, run.task_id)
    assert (task.status, task.status_message) == ("working", "Seite 3")
    assert task.updated_at >= run.claimed_at
    assert await world.redis.zscore(world.keys.status("working", LABEL), run.task_id) == task.updated_at


async def test_a_report_does_not_answer_for_the_requestor(world: World) -> None:
    run = await world.start()
    await world.set_status(run.task_id, "input_required")
    await world.runs.report(run.task_id, run.run, {"status_message": "still asking"})
    assert (await world.tasks.get(ADA, run.task_id)).status == "input_required"
    assert await world.members(world.keys.status("input_required", LABEL)) == [run.task_id]


async def test_sent_again_when_its_reply_was_lost(world: World) -> None:
    run = await world.start()
    async with world.losing_replies() as lossy:
        assert await lossy.runs.report(run.task_id, run.run, {"status_message": "on it"}) is Verdict.DONE
    assert (await world.tasks.get(ADA, run.task_id)).status_message == "on it"
    assert await world.members(world.keys.status("working", LABEL)) == [run.task_id]


async def test_an_older_run_touches_nothing(world: World) -> None:
    old = await world.start("w1")
    await world.lose_lease(old.task_id)
    await world.claim_one("w2")
    before = await world.dump()
    assert await world.runs.report(old.task_id, old.run, {"status_message": "late"}) is Verdict.SUPERSEDED
    assert await world.dump() == before


async def test_an_ended_run_touches_nothing(world: World) -> None:
    run = await world.start()
    await finish(world, run)
    before = await world.dump()
    assert await world.runs.report(run.task_id, run.run, {"status_message": "late"}) is Verdict.TERMINAL
    assert await world.dump() == before


async def test_a_run_that_was_given_back_touches_nothing(world: World) -> None:
    run = await world.start()
    await world.runs.requeue(run.task_id, run.run, "handed_back")
    before = await world.dump()
    assert await world.runs.report(run.task_id, run.run, {"status_message": "late"}) is Verdict.HANDED_BACK
    assert await world.dump() == before


async def test_an_expired_task_is_not_revived(world: World) -> None:
    run = await world.start()
    await world.forget(run.task_id)
    before = await world.dump()
    assert await world.runs.report(run.task_id, run.run, {"status_message": "late"}) is Verdict.GONE
    assert await world.dump() == before
