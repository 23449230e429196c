"""sweep: what stays in the indexes when the ttl of a task has ended."""

import pytest

from receiver.store.runs import Verdict
from tests.store.clients import begin_session, follow, say, start_call
from tests.store.world import LABEL, World, finish, share, until

STATUSES = ["working", "input_required", "completed", "failed", "cancelled"]


async def find_rest(world: World) -> set[str]:
    """The keys that there are, but for the counts of minutes."""
    return {key for key in await world.dump() if not key.startswith(world.keys.tally(""))}


@pytest.mark.parametrize("status", STATUSES)
async def test_the_last_status_is_told(world: World, status: str) -> None:
    task_id = await world.create()
    await world.set_status(task_id, status)
    await world.expire(task_id)
    assert await world.runs.sweep() == {task_id: status}
    assert await world.members(world.keys.status(status, LABEL)) == []


async def test_nothing_of_a_waiting_task_stays(world: World) -> None:
    task_id = await world.create()
    await world.expire(task_id)
    await world.runs.sweep()
    keys = world.keys
    assert await find_rest(world) <= {keys.bell("default"), keys.served(), keys.labels()}


async def test_nothing_of_a_running_task_stays(world: World) -> None:
    run = await world.start(queue="default:draw")
    await world.expire(run.task_id)
    await world.runs.sweep()
    keys = world.keys
    lasting = {keys.served(), keys.labels(), keys.clock()}
    assert await find_rest(world) <= {keys.bell("default:draw"), keys.held("w1"), *lasting}


@pytest.mark.parametrize("closes_first", [False, True])
async def test_nothing_of_its_streams_stays(world: World, closes_first: bool) -> None:  # T-94
    session = await begin_session(world)
    run = await start_call(world, session)
    staying, closed = [follow(world, session, run.task_id, kind="call") for _ in range(2)]
    for stream in (staying, closed):
        await stream.look()
    await say(world, run, b"{}")
    await staying.look()
    await closed.close()
    assert await world.redis.exists(world.keys.listeners(run.task_id), world.keys.replay(staying.stream.id)) == 2
    await world.expire(run.task_id)
    if closes_first:
        await staying.close()
    await world.runs.sweep()
    await staying.close()
    assert not await world.redis.exists(world.keys.listeners(run.task_id), world.keys.replay(staying.stream.id))


async def test_what_a_stream_left_lives_no_longer_than_its_task(world: World) -> None:  # T-94
    session = await begin_session(world)
    run = await start_call(world, session)
    stream = follow(world, session, run.task_id, kind="call")
    await say(world, run, b"{}")
    await stream.look()
    await world.redis.pexpire(world.keys.task(run.task_id), 5_000)
    await stream.close()
    for key in (world.keys.listeners(run.task_id), world.keys.replay(stream.stream.id)):
        assert 0 < await world.redis.pttl(key) <= 5_000


async def test_nothing_of_a_task_that_waited_for_its_time_stays(world: World) -> None:
    run = await world.start()
    await world.runs.requeue(run.task_id, run.run, "retry", 30_000)
    await world.expire(run.task_id)
    await world.runs.sweep()
    assert not await world.redis.exists(world.keys.later(), world.keys.owner("ada"), world.keys.expiry())


async def test_arq_keys_that_a_stock_worker_left_go_too(world: World) -> None:
    task_id = await world.create()
    await world.redis.set(world.keys.arq_retry(task_id), 1)
    await world.redis.set(world.keys.arq_in_progress(task_id), 1)
    await world.expire(task_id)
    await world.runs.sweep()
    assert not await world.redis.exists(world.keys.arq_retry(task_id), world.keys.arq_in_progress(task_id))


async def test_what_has_not_expired_is_left_alone(world: World) -> None:
    gone, there = await world.create(), await world.create()
    await world.expire(gone)
    assert await world.runs.sweep() == {gone: "working"}
    assert await world.ready() == [there]
    for index in (world.keys.owner("ada"), world.keys.active("ada"), world.keys.status("working", LABEL)):
        assert await world.members(index) == [there]


async def test_a_record_that_is_still_there_is_left_alone(world: World) -> None:
    """Redis may need a moment longer to expire a key than we need to look."""
    task_id = await world.create()
    await world.redis.zadd(world.keys.expiry(), {f"ada/{task_id}/default/{LABEL}": 1})
    before = await world.dump()
    assert await world.runs.sweep() == {}
    assert await world.dump() == before


async def test_a_ttl_that_ends_while_the_task_runs(world: World) -> None:  # F42
    await world.create("ada", ttl=500)
    run = await world.claim_one()
    await until(lambda: _is_gone(world, run.task_id))
    assert await finish(world, run) is Verdict.GONE
    assert world.beat(run) == {run.task_id: "expired"}
    assert not await world.redis.exists(world.keys.arq_job(run.task_id))
    await until(lambda: _is_swept(world, run.task_id))
    assert not await world.redis.exists(world.keys.active("ada"))
    assert await world.members(world.keys.leases()) == []


async def _is_gone(world: World, task_id: str) -> bool:
    return not await world.redis.exists(world.keys.task(task_id))


async def _is_swept(world: World, task_id: str) -> bool:
    return await world.runs.sweep() == {task_id: "working"}


async def test_waiters_are_told(world: World) -> None:
    task_id = await world.create()
    await world.expire(task_id)
    async with world.listening(world.keys.events(task_id)) as heard:
        await world.runs.sweep()
        assert await heard() == "expired"


async def test_a_limit_is_kept(world: World) -> None:
    ids = {await world.create() for _ in range(5)}
    for task_id in ids:
        await world.expire(task_id)
    first, second = await world.runs.sweep(3), await world.runs.sweep(3)
    assert (len(first), len(second)) == (3, 2)
    assert first.keys() | second.keys() == ids


async def test_sent_again_when_its_reply_was_lost(world: World) -> None:
    """The second reply can't tell what the first one did; what was done is done once."""
    gone, there = await world.create(), await world.create()
    await world.expire(gone)
    async with world.losing_replies() as lossy:
        assert await lossy.runs.sweep() == {}
    assert await world.members(world.keys.owner("ada")) == [there]
    assert await world.runs.sweep() == {}


async def test_a_finished_task_is_swept_at_its_own_end(world: World) -> None:
    run = await world.start()
    await finish(world, run)
    assert await world.runs.sweep() == {}
    await world.expire(run.task_id)
    assert await world.runs.sweep() == {run.task_id: "completed"}


async def test_a_place_under_the_cap_is_free_again(world: World) -> None:
    run = await world.start(queue="default:draw")
    waiting = await world.create(queue="default:draw")
    await world.expire(run.task_id)
    await world.runs.sweep()
    assert (await world.claim_one("w2", queues=share("default:draw"))).task_id == waiting


async def test_workers_that_are_long_silent_are_forgotten(world: World) -> None:
    now = await world.now()
    await world.redis.zadd(world.keys.workers(), {"old": now - 61_000, "new": now - 1_000})
    await world.runs.sweep(worker_age=60_000)
    assert await world.members(world.keys.workers()) == ["new"]
