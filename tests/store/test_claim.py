"""claim: which tasks a worker gets, under which numbers, and which bells ring on."""

import pytest

from receiver.store.record import ClaimedRun
from receiver.store.runs import Slots
from tests.store.world import ADA, DONE, LEASE, World, finish, share

# What it hands over


async def test_a_claim_brings_all_that_a_run_needs(world: World) -> None:
    task_id = await world.create("ada", max_attempts=2)
    before = await world.now()
    run = await world.claim_one()
    after = await world.now()
    assert (run.task_id, run.run, run.job, run.kind) == (task_id, 1, b"job", "task")
    assert (run.attempt, run.max_attempts, run.text("tool"), run.text("owner")) == (1, 2, "draw", "ada")
    assert run.fields == {name: value.encode() for name, value in (await world.record(task_id)).items()}
    assert before <= run.claimed_at <= after
    assert run.remaining == int(run.text("expires_at")) - run.claimed_at


async def test_a_claim_takes_the_task_out_of_the_queue_under_a_lease(world: World) -> None:
    task_id = await world.create()
    run = await world.claim_one("w1")
    record = await world.record(task_id)
    assert record["worker"] == "w1"
    assert int(record["lease_until"]) == run.claimed_at + LEASE
    assert int(record["started_at"]) == run.claimed_at
    assert await world.redis.zscore(world.keys.leases(), task_id) == run.claimed_at + LEASE
    assert await world.ready() == []
    assert await world.claim("w2") == []


async def test_the_status_stays_and_is_not_updated_by_a_claim(world: World) -> None:
    task_id = await world.create()
    before = await world.tasks.get(ADA, task_id)
    await world.claim_one()
    assert await world.tasks.get(ADA, task_id) == before


async def test_the_oldest_first(world: World) -> None:
    ids = [await world.create() for _ in range(4)]
    assert [run.task_id for run in await world.claim(free=3)] == ids[:3]
    assert [run.task_id for run in await world.claim(free=3)] == ids[3:]


async def test_a_queue_that_is_not_served_keeps_its_tasks(world: World) -> None:
    task_id = await world.create(queue="slow")
    assert await world.claim(queues=share("default")) == []
    assert await world.ready("slow") == [task_id]
    assert await world.rings("slow")


async def test_no_free_slot_no_task(world: World) -> None:
    await world.create()
    assert await world.claim(free=0) == []
    assert await world.rings()


# Slots


async def test_slots_that_are_not_open_take_plain_calls_only(world: World) -> None:
    for _ in range(3):
        await world.create(queue="default")
        await world.create(queue="plain", kind="call")
    runs = await world.claim(free=3, open=1, queues=share("default", "plain"))
    assert sorted(run.text("queue") for run in runs) == ["default", "plain", "plain"]


async def test_plain_calls_may_use_all_slots(world: World) -> None:
    for _ in range(4):
        await world.create(queue="plain", kind="call")
        await world.create(queue="default")
    runs = await world.claim(free=3, open=2, queues=share("plain", "default"))
    assert [run.text("queue") for run in runs] == ["plain"] * 3


async def test_a_plain_call_leaves_the_open_slots_open(world: World) -> None:
    await world.create(queue="plain", kind="call")
    await world.create(queue="default")
    runs = await world.claim(free=2, open=1, queues=share("plain", "default"))
    assert [run.text("queue") for run in runs] == ["plain", "default"]


async def test_with_only_a_reserved_slot_no_task_is_taken(world: World) -> None:
    await world.create(queue="default")
    assert await world.claim(free=1, open=0, queues=share("plain", "default")) == []
    assert await world.rings()


# max_running


async def test_a_cap_holds_over_two_workers(world: World) -> None:
    ids = [await world.create(queue="default:draw") for _ in range(3)]
    queues = share("default:draw", cap=2)
    assert [run.task_id for run in await world.claim("w1", free=1, queues=queues)] == ids[:1]
    assert [run.task_id for run in await world.claim("w2", queues=queues)] == ids[1:2]
    assert await world.claim("w1", queues=queues) == []


async def test_tasks_and_plain_calls_of_a_tool_share_its_cap(world: World) -> None:
    queues = share("plain:draw", "default:draw")
    await world.create(queue="default:draw")
    task = await world.claim_one("w1", queues=queues)
    call = await world.create(queue="plain:draw", kind="call")
    assert await world.claim("w2", queues=queues) == []
    await finish(world, task)
    assert (await world.claim_one("w2", queues=queues)).task_id == call


async def test_another_tool_has_its_own_cap(world: World) -> None:
    await world.create(queue="default:draw")
    await world.create(queue="default:paint")
    assert len(await world.claim(queues=share("default:draw", "default:paint"))) == 2


async def test_a_run_that_goes_on_takes_its_place_under_the_cap(world: World) -> None:
    run = await world.start(queue="default:draw")
    await world.create(queue="default:draw")
    await world.lose_lease(run.task_id)
    await world.recover()
    queues, running = share("default:draw"), {run.task_id: run.run}
    assert await world.claim("w1", queues=queues, running=running) == []
    assert await world.members(world.keys.running("draw")) == [run.task_id]


async def test_a_lowered_cap_is_kept(world: World) -> None:
    for _ in range(3):
        await world.create(queue="default:draw")
    assert len(await world.claim(queues=share("default:draw", cap=2))) == 2
    assert await world.claim(queues=share("default:draw", cap=1)) == []


# What is dropped


async def test_a_task_that_is_gone_is_dropped_with_all_its_keys(world: World) -> None:
    gone, there = await world.create(), await world.create()
    await world.redis.delete(world.keys.task(gone))
    await world.redis.set(world.keys.arq_retry(gone), 1)
    await world.redis.set(world.keys.arq_in_progress(gone), 1)
    assert (await world.claim_one(free=1)).task_id == there
    assert await world.ready() == []
    assert not await world.redis.exists(*arq_keys(world, gone))


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
async def test_a_terminal_task_is_never_run(world: World, status: str) -> None:
    task_id = await world.create()
    await world.set_status(task_id, status)
    assert await world.claim() == []
    assert await world.ready() == []
    assert not await world.redis.exists(*arq_keys(world, task_id))


def arq_keys(world: World, task_id: str) -> list[str]:
    keys = world.keys
    return [keys.arq_job(task_id), keys.arq_retry(task_id), keys.arq_in_progress(task_id)]


# What this worker still runs


async def lost_and_requeued(world: World) -> ClaimedRun:
    run = await world.start("w1")
    await world.lose_lease(run.task_id)
    assert await world.recover() == {run.task_id: "requeued"}
    return run


async def test_a_run_that_lost_its_lease_here_goes_on(world: World) -> None:
    run = await lost_and_requeued(world)
    assert await world.claim("w1", running={run.task_id: run.run}) == []
    record = await world.record(run.task_id)
    assert (record["run"], record["attempt"], record["worker"]) == ("1", "1", "w1")
    assert "lost" not in record
    assert await world.ready() == []
    assert await finish(world, run) == 1


async def test_a_run_that_goes_on_is_not_given_out_as_a_new_one(world: World) -> None:
    run = await lost_and_requeued(world)
    running = {run.task_id: run.run}
    assert await world.claim("w1", number=7, running=running) == []
    assert await world.claim("w1", number=7, running=running) == []  # its reply was lost, and it is sent again


async def test_an_older_run_here_must_end_first(world: World) -> None:
    run = await lost_and_requeued(world)
    newer = await world.claim_one("w2")
    await world.lose_lease(run.task_id)
    await world.recover()
    assert newer.run == 2
    assert await world.claim("w1", running={run.task_id: run.run}) == []
    assert await world.ready() == [run.task_id]
    assert (await world.claim_one("w1")).run == 3


async def test_what_stands_behind_an_own_run_is_taken(world: World) -> None:
    run = await lost_and_requeued(world)
    await world.claim_one("w2")
    await world.lose_lease(run.task_id)
    await world.recover()
    behind = await world.create()
    assert (await world.claim_one("w1", running={run.task_id: run.run})).task_id == behind


@pytest.mark.parametrize("reason", ["handed_back", "retry"])
async def test_a_run_that_was_given_back_does_not_go_on(world: World, reason: str) -> None:
    """The reply of requeue may still be under way when the bell has already woken this very worker."""
    run = await world.start("w1")
    await world.runs.requeue(run.task_id, run.run, reason)  # type: ignore[arg-type]
    await world.claim("w1", running={run.task_id: run.run})
    assert await world.ready() == [run.task_id]
    assert (await world.claim_one("w2")).attempt == (2 if reason == "retry" else 1)


# A lost reply


async def test_the_same_claim_brings_the_same_tasks(world: World) -> None:
    ids = {await world.create() for _ in range(3)}
    first = await world.claim("w1", number=4, free=2)
    again = await world.claim("w1", number=4, free=2)
    assert sorted(run.task_id for run in again) == sorted(run.task_id for run in first)
    assert {run.run for run in again} == {1}
    assert {run.attempt for run in again} == {1}
    assert await world.ready() == list(ids - {run.task_id for run in first})


async def test_sent_again_when_its_reply_was_lost(world: World) -> None:
    ids = [await world.create() for _ in range(2)]
    async with world.losing_replies() as lossy:
        runs = await lossy.claim("w1", free=1)
    assert [(run.task_id, run.run) for run in runs] == [(ids[0], 1)]
    assert await world.ready() == ids[1:]


async def test_the_same_claim_leaves_out_what_ended_meanwhile(world: World) -> None:
    ids = [await world.create() for _ in range(4)]
    await world.claim("w1", number=1)
    await world.tasks.cancel(ADA, ids[0], "")
    await world.expire(ids[1])
    await world.lose_lease(ids[2])
    await world.recover()
    assert [run.task_id for run in await world.claim("w1", number=1)] == ids[3:]


async def test_another_worker_has_numbers_of_its_own(world: World) -> None:
    first, second = await world.create(), await world.create()
    assert (await world.claim_one("w1", number=1, free=1)).task_id == first
    assert (await world.claim_one("w2", number=1, free=1)).task_id == second


# Bells


async def test_the_bell_is_silent_when_nothing_is_left(world: World) -> None:
    await world.create()
    await world.claim()
    assert not await world.rings()


async def test_the_bell_rings_on_for_what_another_worker_could_take(world: World) -> None:
    for _ in range(2):
        await world.create()
    await world.silence()  # a worker popped it
    await world.claim(free=1)
    assert await world.rings()
    assert await world.redis.llen(world.keys.bell("default")) == 1


async def test_many_tasks_are_one_ring(world: World) -> None:
    for _ in range(3):
        await world.create()
    assert await world.redis.llen(world.keys.bell("default")) == 1


async def test_the_bell_is_silent_for_what_this_worker_passed_over(world: World) -> None:
    """It would only wake itself, again and again, until its older run ends."""
    run = await lost_and_requeued(world)
    await world.claim_one("w2")
    await world.lose_lease(run.task_id)
    await world.recover()
    await world.claim("w1", running={run.task_id: run.run})
    assert not await world.rings()


async def test_the_bell_is_silent_for_what_no_worker_may_take(world: World) -> None:
    for _ in range(2):
        await world.create(queue="default:draw")
    await world.claim(queues=share("default:draw"))
    assert not await world.rings("default:draw")


async def test_the_bell_rings_when_a_place_under_the_cap_is_free_again(world: World) -> None:
    run = await world.start(queue="default:draw")
    await world.create(queue="default:draw")
    await world.silence("default:draw")
    await finish(world, run, DONE)
    assert await world.rings("default:draw")


async def test_a_place_of_a_task_wakes_plain_calls_of_the_tool_too(world: World) -> None:
    run = await world.start(queue="default:draw")
    await world.create(queue="plain:draw", kind="call")
    await world.silence("default:draw", "plain:draw")
    await finish(world, run, DONE)
    assert await world.rings("plain:draw") or await world.rings("default:draw")


async def test_the_bell_rings_when_a_capped_run_expired(world: World) -> None:
    run = await world.start(queue="default:draw")
    await world.create(queue="default:draw")
    await world.silence("default:draw")
    await world.expire(run.task_id)
    await world.runs.sweep()
    assert await world.rings("default:draw")


# Numbers


async def test_a_lost_lease_counts_as_an_attempt(world: World) -> None:
    run = await lost_and_requeued(world)
    again = await world.claim_one("w2")
    assert (again.task_id, again.run, again.attempt) == (run.task_id, 2, 2)


async def test_a_hand_back_does_not_count(world: World) -> None:
    run = await world.start()
    await world.runs.requeue(run.task_id, run.run, "handed_back")
    assert (await world.record(run.task_id))["handed_back"] == "1"
    again = await world.claim_one("w2")
    assert (again.run, again.attempt) == (2, 1)
    assert "handed_back" not in await world.record(run.task_id)


async def test_a_retry_counts(world: World) -> None:
    run = await world.start()
    await world.runs.requeue(run.task_id, run.run, "retry")
    again = await world.claim_one("w2")
    assert (again.run, again.attempt) == (2, 2)


async def test_a_loss_after_a_hand_back_counts(world: World) -> None:
    run = await world.start()
    await world.runs.requeue(run.task_id, run.run, "handed_back")
    await world.claim_one("w2")
    await world.lose_lease(run.task_id)
    await world.recover()
    assert (await world.claim_one("w3")).attempt == 2


async def test_a_claim_takes_over_expired_leases_itself(world: World) -> None:
    run = await world.start("w1")
    await world.lose_lease(run.task_id)
    taken = await world.claim_one("w2")
    assert (taken.task_id, taken.run, taken.attempt) == (run.task_id, 2, 2)
    assert await world.redis.hget(world.keys.held("w1"), run.task_id) is None


# Retries that are due


async def due_in(world: World, running: dict[str, int] | None = None) -> int | None:
    _, due = await world.runs.claim("w9", 99, Slots(0, 0), share("default"), running or {})
    return due


async def test_when_the_next_retry_is_due(world: World) -> None:
    assert await due_in(world) is None
    run = await world.start()
    await world.runs.requeue(run.task_id, run.run, "retry", 30_000)
    due = await due_in(world)
    assert due is not None
    assert 20_000 < due <= 30_000
    assert await world.claim() == []


async def test_a_retry_that_is_due_goes_back_to_its_old_place(world: World) -> None:
    run = await world.start()
    later = await world.create()
    await world.runs.requeue(run.task_id, run.run, "retry", 30_000)
    await world.redis.zadd(world.keys.later(), {run.task_id: 1})
    assert [run.task_id for run in await world.claim()] == [run.task_id, later]
    assert await world.members(world.keys.later()) == []


async def test_a_retry_whose_task_is_gone_is_dropped(world: World) -> None:
    run = await world.start()
    await world.runs.requeue(run.task_id, run.run, "retry", 30_000)
    await world.redis.zadd(world.keys.later(), {run.task_id: 1})
    await world.forget(run.task_id)
    assert await world.claim() == []
    assert await world.members(world.keys.later()) == []


async def test_a_claim_removes_a_bounded_number_of_what_is_over(world: World) -> None:
    """A store with fifty thousand expired tasks in its queue stood still for a fifth of a second."""
    for _ in range(150):
        await world.forget(await world.create())
    task_id = await world.create()
    assert await world.claim() == []
    assert len(await world.ready()) == 51
    assert await world.redis.llen(world.keys.bell("default")) == 1  # who wakes by it goes on
    assert (await world.claim_one()).task_id == task_id
