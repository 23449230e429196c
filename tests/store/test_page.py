"""page: an owner's tasks, newest first, page by page, whatever happens to them between two pages."""

from random import Random

import pytest

from receiver.protocol.cursor import Position
from receiver.protocol.task_id import new_task_id
from tests.store.world import ADA, World, by, finish


async def walk(world: World, size: int, owner: str = "ada") -> list[str]:
    """All ids, page by page."""
    found: list[str] = []
    after: Position | None = None
    while True:
        tasks, after = await world.tasks.list_page(by(owner), size, after)
        assert len(tasks) <= size
        found += [task.id for task in tasks]
        if after is None:
            return found
        assert len(tasks) == size


async def create_in_one_millisecond(world: World, count: int) -> list[str]:
    """Ids in the order of tasks/list."""
    ids = [await world.create() for _ in range(count)]
    for task_id in ids:
        await world.redis.zadd(world.keys.owner("ada"), {task_id: 1_700_000_000_000})
        await world.redis.hset(world.keys.task(task_id), "created_at", 1_700_000_000_000)
    return sorted(ids, reverse=True)


async def create_apart(world: World, count: int) -> list[str]:
    """Ids in the order of tasks/list, each a millisecond apart."""
    ids = [await world.create() for _ in range(count)]
    for number, task_id in enumerate(ids):
        await world.redis.zadd(world.keys.owner("ada"), {task_id: 1_700_000_000_000 + number})
        await world.redis.hset(world.keys.task(task_id), "created_at", 1_700_000_000_000 + number)
    return ids[::-1]


async def test_no_tasks(world: World) -> None:
    assert await world.tasks.list_page(ADA, 10, None) == ([], None)


async def test_newest_first(world: World) -> None:
    ids = await create_apart(world, 3)
    tasks, following = await world.tasks.list_page(ADA, 10, None)
    assert [task.id for task in tasks] == ids
    assert tasks[0] == await world.tasks.get(ADA, ids[0])
    assert following is None


@pytest.mark.parametrize("size", [1, 2, 3, 6, 7, 8, 50])
async def test_pages_make_up_the_whole(world: World, size: int) -> None:
    ids = await create_apart(world, 7)
    assert await walk(world, size) == ids


@pytest.mark.parametrize("size", [1, 2, 3, 6, 7, 8])
async def test_ties_are_not_lost_between_pages(world: World, size: int) -> None:
    ids = await create_in_one_millisecond(world, 7)
    assert await walk(world, size) == ids


async def test_more_ties_than_two_pages_hold(world: World) -> None:
    older = await create_in_one_millisecond(world, 9)
    await world.redis.zincrby(world.keys.owner("ada"), 1, older[-1])
    await world.redis.hincrby(world.keys.task(older[-1]), "created_at", 1)
    assert await walk(world, 2) == [older[-1], *older[:-1]]


async def test_a_position_is_that_of_the_last_task_on_its_page(world: World) -> None:
    ids = await create_apart(world, 3)
    tasks, following = await world.tasks.list_page(ADA, 2, None)
    assert following == Position(tasks[-1].created_at, ids[1])


async def test_no_position_when_the_last_page_is_just_full(world: World) -> None:
    await create_apart(world, 4)
    tasks, following = await world.tasks.list_page(ADA, 4, None)
    assert (len(tasks), following) == (4, None)


async def test_a_new_task_does_not_disturb_a_walk(world: World) -> None:
    ids = await create_apart(world, 5)
    _, following = await world.tasks.list_page(ADA, 2, None)
    await world.create()
    tasks, _ = await world.tasks.list_page(ADA, 10, following)
    assert [task.id for task in tasks] == ids[2:]


async def test_a_position_whose_task_is_gone_still_serves(world: World) -> None:  # F8
    ids = await create_in_one_millisecond(world, 5)
    _, following = await world.tasks.list_page(ADA, 2, None)
    await world.expire(ids[1])
    await world.runs.sweep()
    tasks, _ = await world.tasks.list_page(ADA, 10, following)
    assert [task.id for task in tasks] == ids[2:]


async def test_a_position_that_never_was_serves_too(world: World) -> None:
    ids = await create_apart(world, 3)
    tasks, _ = await world.tasks.list_page(ADA, 10, Position(1_700_000_000_001, "0-" + "0" * 32))
    assert [task.id for task in tasks] == ids[2:]
    tasks, _ = await world.tasks.list_page(ADA, 10, Position(0, new_task_id()))
    assert tasks == []


async def test_expired_tasks_are_left_out_and_pages_stay_full(world: World) -> None:  # X-7, F43
    ids = await create_apart(world, 12)
    for task_id in (*ids[:5], ids[7], ids[11]):
        await world.forget(task_id)
    tasks, following = await world.tasks.list_page(ADA, 3, None)
    assert [task.id for task in tasks] == [ids[5], ids[6], ids[8]]
    tasks, following = await world.tasks.list_page(ADA, 3, following)
    assert [task.id for task in tasks] == [ids[9], ids[10]]
    assert following is None


async def test_expired_tasks_leave_the_index_when_they_are_met(world: World) -> None:
    ids = await create_apart(world, 4)
    await world.forget(ids[1])
    await world.tasks.list_page(ADA, 10, None)
    assert sorted(await world.members(world.keys.owner("ada"))) == sorted([ids[0], *ids[2:]])


async def test_ten_thousand_expired_tasks_that_nobody_swept(world: World) -> None:
    """Without a worker there is no janitor; the list has to cope."""
    there = await world.create()
    gone = {new_task_id(): 1 for _ in range(10_000)}
    await world.redis.zadd(world.keys.owner("ada"), gone)
    tasks, following = await world.tasks.list_page(ADA, 10, None)
    assert [task.id for task in tasks] == [there]
    assert following is None
    assert await world.redis.zcard(world.keys.owner("ada")) == 1


@pytest.mark.parametrize("seed", range(3))
async def test_a_walk_finds_what_stays_while_tasks_come_and_go(world: World, seed: int) -> None:
    random = Random(seed)  # noqa: S311 - to be repeated, not to be secret
    staying = set(await create_in_one_millisecond(world, 6)) | set(await create_apart(world, 14))
    passing = {await world.create() for _ in range(20)}
    found: list[str] = []
    after: Position | None = None
    while True:
        tasks, after = await world.tasks.list_page(ADA, 3, after)
        found += [task.id for task in tasks]
        if after is None:
            break
        if passing and random.random() < 0.7:
            leaving = passing.pop()
            await (world.forget(leaving) if random.random() < 0.5 else world.tasks.cancel(ADA, leaving, ""))
        await world.create()
    assert len(found) == len(set(found))
    assert staying <= set(found)


async def test_tasks_of_others_and_plain_calls_are_not_listed(world: World) -> None:  # T-90
    await world.create("bob")
    await world.create("ada", kind="call", queue="plain")
    task_id = await world.create("ada")
    assert await walk(world, 10) == [task_id]


async def test_ended_tasks_are_listed_until_they_expire(world: World) -> None:
    run = await world.start()
    await finish(world, run)
    tasks, _ = await world.tasks.list_page(ADA, 10, None)
    assert [(task.id, task.status) for task in tasks] == [(run.task_id, "completed")]


async def test_very_many_expired_ones_are_removed_bit_by_bit(world: World) -> None:
    """X-7: so that the store is not held up, and their owner still gets a page."""
    ids = await create_apart(world, 3)
    expired = {new_task_id(): 1_800_000_000_000 + number for number in range(2500)}
    await world.redis.zadd(world.keys.owner("ada"), expired)
    more, found = await world.client.call("page", "ada", 2, "+inf", "", "status")
    assert (more, found) == (-1, [])
    assert 3 < await world.redis.zcard(world.keys.owner("ada")) < 2503
    assert await walk(world, 2) == ids
    assert await world.redis.zcard(world.keys.owner("ada")) == 3
