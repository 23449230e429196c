"""The order of a queue: an owner's own tasks in their order, and no owner behind all tasks of another."""

from tests.store.world import ADA, World

MANY = 500


async def crowd(world: World, owner: str = "crowd", count: int = MANY) -> None:
    for _ in range(count):
        await world.create(owner)


async def owners(world: World, free: int) -> list[str]:
    """Whose tasks are claimed next."""
    return [run.text("owner") for run in await world.claim(free=free)]


async def test_the_first_task_of_another_does_not_wait_for_a_crowd(world: World) -> None:
    await crowd(world)
    await world.create("ada")
    assert "ada" in await owners(world, 2)


async def test_nor_does_it_when_the_crowd_is_half_served(world: World) -> None:
    await crowd(world)
    await world.claim(free=MANY // 2)
    await world.create("ada")
    assert "ada" in await owners(world, 2)


async def test_two_owners_take_turns(world: World) -> None:
    await crowd(world, "ada", 5)
    await crowd(world, "bob", 5)
    turns = await owners(world, 10)
    assert all({first, second} == {"ada", "bob"} for first, second in zip(turns[::2], turns[1::2], strict=True))


async def test_an_owners_own_tasks_keep_their_order(world: World) -> None:
    mine = []
    for _ in range(20):
        await world.create("bob")
        mine.append(await world.create("ada"))
    claimed = [run.task_id for run in await world.claim(free=40) if run.text("owner") == "ada"]
    assert claimed == mine


async def test_who_was_idle_does_not_come_before_those_who_wait(world: World) -> None:
    """Idleness earns nothing: a newcomer stands level with the others, not in front of all of them."""
    await crowd(world, "ada", 10)
    await world.claim(free=5)
    await crowd(world, "bob", 5)
    assert (await owners(world, 4)).count("bob") == 2


async def test_tags_of_what_was_served_are_forgotten(world: World) -> None:
    for owner in ("ada", "bob", "eve"):
        await world.create(owner)
    await crowd(world, "crowd", 3)
    await world.claim(free=4)
    assert await world.members(world.keys.fair("default")) == ["crowd"]
    await world.claim(free=10)
    assert not await world.redis.exists(world.keys.fair("default"))


async def test_tags_of_what_was_never_served_are_forgotten_too(world: World) -> None:
    cancelled, expired = await world.create("ada"), await world.create("bob")
    await world.tasks.cancel(ADA, cancelled, "")
    await world.expire(expired)
    await world.runs.sweep()
    assert not await world.redis.exists(world.keys.fair("default"))


async def test_a_task_at_its_old_place_does_not_turn_back_what_was_served(world: World) -> None:
    run = await world.start("w1")
    await crowd(world, "ada", 10)
    await world.claim("w2", free=5)
    served = await world.redis.hget(world.keys.served(), "default")
    await world.lose_lease(run.task_id)
    await world.recover()
    assert (await world.claim_one("w3", free=1)).task_id == run.task_id
    assert await world.redis.hget(world.keys.served(), "default") == served


async def test_a_task_at_its_old_place_comes_first(world: World) -> None:
    run = await world.start("w1")
    await crowd(world, "bob", 10)
    await world.claim("w2", free=5)
    await world.runs.requeue(run.task_id, run.run, "retry")
    assert (await world.ready())[0] == run.task_id


async def test_each_queue_has_tags_of_its_own(world: World) -> None:
    await crowd(world, "ada", 10)
    await world.claim(free=10)
    await world.create("ada", queue="slow")
    assert await world.redis.zscore(world.keys.fair("slow"), "ada") == 1


async def test_who_cancelled_a_backlog_does_not_stand_behind_it(world: World) -> None:
    await crowd(world, "bob", 10)
    for task_id in [await world.create("ada") for _ in range(20)]:
        await world.tasks.cancel(ADA, task_id, "")
    await world.create("ada")
    assert "ada" in await owners(world, 2)


async def test_who_has_tasks_stands_behind_them_whatever_was_cancelled(world: World) -> None:
    first = await world.create("ada")
    for task_id in [await world.create("ada") for _ in range(5)]:
        await world.tasks.cancel(ADA, task_id, "")
    last = await world.create("ada")
    assert await world.ready() == [first, last]
