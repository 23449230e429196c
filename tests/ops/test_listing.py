"""Pages of ``receiver tasks list`` where little is found."""

from ops.admin.filters import Search
from ops.commands.listing import MOST_LOOKS, collect
from receiver.store.inspect import Filter
from tests.store.world import World


async def add_noise(world: World, count: int) -> None:
    """So many entries of an owner that are newer than all else, and nothing."""
    noise = {f"0-{number:032x}": 5e12 + number for number in range(count)}
    await world.redis.zadd(world.keys.owner("ada"), noise)


async def test_a_page_is_filled_from_several_looks(world: World) -> None:
    wanted = [await world.create(tool="paint") for _ in range(3)]
    await add_noise(world, 5_000)
    found, position = await collect(world.inspector, Search(Filter(owner="ada"), 2))
    assert len(found) == 2
    assert {summary.id for summary in found} < set(wanted)
    assert position is not None
    rest, position = await collect(world.inspector, Search(Filter(owner="ada"), 2, position))
    assert {summary.id for summary in (*found, *rest)} == set(wanted)
    assert position is None
    await world.redis.zremrangebyscore(world.keys.owner("ada"), 5e12, "+inf")


async def test_a_page_does_not_look_for_ever(world: World) -> None:
    wanted = await world.create()
    await add_noise(world, 2_000 * MOST_LOOKS)
    found, position = await collect(world.inspector, Search(Filter(owner="ada"), 2))
    assert found == []
    assert position is not None
    found, position = await collect(world.inspector, Search(Filter(owner="ada"), 2, position))
    assert [summary.id for summary in found] == [wanted]
    await world.redis.zremrangebyscore(world.keys.owner("ada"), 5e12, "+inf")
