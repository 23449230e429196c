"""The scripts of ``receiver doctor`` on every backend; ``test_diagnosis`` has what comes of them."""

from tests.store.world import LABEL, World


async def test_where_a_task_stands(world: World) -> None:
    waiting = await world.create()
    (entry,) = await world.client.call("examine_tasks", "working", 100)
    task_id, pttl, status, queue, worker, *flags = entry
    assert (task_id.decode(), status, queue, worker) == (waiting, b"working", b"default", b"")
    assert 0 < pttl <= 60_000
    assert flags == [0, 1, 0, 0, 1, 1, 0]  # not parked; queued; neither leased nor later; owned; swept; asks nothing
    await world.claim_one()
    (entry,) = await world.client.call("examine_tasks", "working", 100)
    assert entry[5:] == [0, 0, 1, 0, 1, 1, 0]


async def test_a_task_that_expired_stands_nowhere(world: World) -> None:
    await world.expire(await world.create())
    assert await world.client.call("examine_tasks", "working", 100) == []


async def test_what_was_left_undone_and_what_waits(world: World) -> None:
    await world.create()
    gone = await world.create(queue="heavy")
    await world.expire(gone)
    run = await world.claim_one()
    await world.redis.zadd(world.keys.leases(), {run.task_id: 1})
    await world.redis.hset(world.keys.clock(), "hold_until", 0)
    answer = await world.client.call("examine_store", 60_000, 1000, "default", "heavy", "default")
    unswept, overdue, late, strays, queues = answer
    assert (unswept, overdue, late) == (1, 1, 0)
    assert dict(zip(queues[::2], queues[1::2], strict=True)) == {b"default": 0, b"heavy": 1}
    permanent = {
        world.keys.expiry(),
        world.keys.leases(),
        world.keys.served(),
        world.keys.status("working", LABEL),
        world.keys.labels(),
    }
    assert {key.decode() for key in strays} >= permanent - {world.keys.served()}
