"""create: the record, its indexes and its job, all or nothing."""

import asyncio

import pytest

from receiver.protocol.errors import Refused
from receiver.store.client import Client
from receiver.store.keys import Keys
from receiver.store.record import SCHEMA
from receiver.store.tasks import TaskStore
from tests.store.world import ADA, BOB, LABEL, TTL, World, finish, new_task


async def test_the_record_reads_like_a_record(world: World) -> None:
    task_id = await world.create("ada", max_attempts=2)
    record = await world.record(task_id)
    created_at = int(record["created_at"])
    assert record == {
        "kind": "task",
        "status": "working",  # T-31
        "created_at": str(created_at),
        "updated_at": str(created_at),
        "expires_at": str(created_at + TTL),
        "ttl": str(TTL),
        "owner": "ada",
        "queue": "default",
        "run": "0",
        "attempt": "0",
        "schema": str(SCHEMA),
        "tool": "draw",
        "poll_interval": "1000",
        "max_attempts": "2",
    }


async def test_all_parts_are_there(world: World) -> None:
    task_id = await world.create("ada")
    assert await world.ready() == [task_id]
    assert await world.rings()
    assert await world.redis.get(world.keys.arq_job(task_id)) == b"job"
    for index in (world.keys.owner("ada"), world.keys.active("ada"), world.keys.status("working", LABEL)):
        assert await world.members(index) == [task_id]
    assert await world.members(world.keys.expiry()) == [f"ada/{task_id}/default/{LABEL}"]


async def test_times_are_those_of_the_store(world: World) -> None:
    before = await world.now()
    created_at = await world.tasks.create(ADA, new_task())
    assert before <= created_at <= await world.now()


async def test_record_and_job_end_with_the_granted_ttl(world: World) -> None:
    task = new_task(ttl=5_000)
    end = await world.tasks.create(ADA, task) + 5_000
    assert await world.redis.pexpiretime(world.keys.task(task.id)) == end
    assert await world.redis.pexpiretime(world.keys.arq_job(task.id)) == end
    assert await world.redis.zscore(world.keys.active("ada"), task.id) == end
    assert await world.redis.zscore(world.keys.expiry(), f"ada/{task.id}/default/{LABEL}") == end


@pytest.mark.parametrize(("first", "second"), [(60_000, 5_000), (5_000, 60_000)])
async def test_an_index_lives_as_long_as_its_last_task(world: World, first: int, second: int) -> None:
    starts = [await world.tasks.create(ADA, new_task(ttl=ttl)) for ttl in (first, second)]
    end, longest = max(starts[0] + first, starts[1] + second), max(first, second)
    for index in (world.keys.owner("ada"), world.keys.active("ada")):
        assert end <= await world.redis.pexpiretime(index) <= end + longest // 8


async def test_sent_again_when_its_reply_was_lost(world: World) -> None:
    task = new_task()
    async with world.losing_replies() as lossy:
        created_at = await lossy.tasks.create(ADA, task)
    record = await world.record(task.id)
    assert int(record["created_at"]) == created_at
    assert await world.ready() == [task.id]
    assert await world.members(world.keys.active("ada")) == [task.id]


async def test_sent_again_after_it_was_claimed_and_finished(world: World) -> None:
    task = new_task()
    created_at = await world.tasks.create(ADA, task)
    await finish(world, await world.claim_one())
    before = await world.dump()
    assert await world.tasks.create(ADA, task) == created_at
    assert await world.dump() == before


async def test_sent_again_at_the_limit_is_no_second_task(world: World) -> None:
    tasks = TaskStore(world.client, task_limit=1, queue_limit=100)
    task = new_task()
    assert await tasks.create(ADA, task) == await tasks.create(ADA, task)


async def test_limit_of_unfinished_tasks_is_each_owners_own(world: World) -> None:  # T-92
    tasks = TaskStore(world.client, task_limit=2, queue_limit=100)
    for _ in range(2):
        await tasks.create(ADA, new_task("ada"))
    before = await world.dump()
    with pytest.raises(Refused) as refused:
        await tasks.create(ADA, new_task("ada"))
    assert refused.value.data["reason"] == "too_many_tasks"
    assert "2 unfinished tasks" in refused.value.message
    assert await world.dump() == before
    await tasks.create(BOB, new_task("bob"))


async def test_limit_holds_under_parallel_creates(world: World) -> None:
    tasks = TaskStore(world.client, task_limit=20, queue_limit=100)
    results = await asyncio.gather(*(tasks.create(ADA, new_task()) for _ in range(50)), return_exceptions=True)
    assert sum(isinstance(result, int) for result in results) == 20
    assert sum(isinstance(result, Refused) for result in results) == 30
    assert len(await world.members(world.keys.active("ada"))) == 20


async def test_plain_calls_count_as_unfinished(world: World) -> None:
    tasks = TaskStore(world.client, task_limit=1, queue_limit=100)
    await tasks.create(ADA, new_task(kind="call", queue="plain"))
    with pytest.raises(Refused):
        await tasks.create(ADA, new_task())


async def test_what_ended_no_longer_counts(world: World) -> None:
    tasks = TaskStore(world.client, task_limit=1, queue_limit=100)
    first, second = new_task(), new_task()
    await tasks.create(ADA, first)
    await finish(world, await world.claim_one())
    await tasks.create(ADA, second)
    await tasks.cancel(ADA, second.id, "")
    await tasks.create(ADA, new_task())


async def test_what_expired_no_longer_counts_swept_or_not(world: World) -> None:
    tasks = TaskStore(world.client, task_limit=1, queue_limit=100)
    first, second = new_task(), new_task()
    await tasks.create(ADA, first)
    await world.expire(first.id)
    await tasks.create(ADA, second)
    await world.expire(second.id)
    await world.runs.sweep()
    assert not await world.redis.exists(world.keys.active("ada"))
    await tasks.create(ADA, new_task())


async def test_a_full_queue_refuses(world: World) -> None:
    tasks = TaskStore(world.client, task_limit=100, queue_limit=2)
    await tasks.create(ADA, new_task())
    run = await world.claim_one()
    await world.runs.requeue(run.task_id, run.run, "retry", 60_000)  # what waits for a time counts too
    await tasks.create(ADA, new_task())
    before = await world.dump()
    with pytest.raises(Refused) as refused:
        await tasks.create(ADA, new_task())
    assert refused.value.data["reason"] == "queue_full"
    assert await world.dump() == before


async def test_two_namespaces_do_not_see_each_other(world: World) -> None:
    keys = Keys("mcp.x")
    other = World(world.backend, world.redis, world.blocking, Client(world.redis, keys, with_flags=world.with_flags))
    task_id = await world.create()
    assert await other.claim() == []
    assert await other.record(task_id) == {}
    assert (await world.claim_one()).task_id == task_id
    await world.redis.delete(keys.clock(), keys.held("w1"))
