"""The gauges of the store: how much is in each queue, and who serves it."""

from collections.abc import Callable

from receiver.store.client import Client, connect
from receiver.store.gauges import GaugeStore
from receiver.store.inspect import Filter, QueueState
from receiver.store.keys import Keys
from tests.store.world import LEASE, World, finish, share

QUEUES = ("plain", "default", "default:draw", "idle")


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def gauges_of(world: World, clock: Callable[[], float] | None = None) -> GaugeStore:
    return GaugeStore(world.client, lambda: QUEUES, lease=LEASE, clock=clock or Clock())


async def read(world: World) -> dict[str, QueueState]:
    survey = await gauges_of(world).read()
    assert survey is not None
    return {queue.name: queue for queue in survey.queues}


async def test_an_empty_store(world: World) -> None:
    survey = await gauges_of(world).read()
    assert survey is not None
    assert set(survey.count(Filter()).values()) == {0}
    assert survey.queues == [QueueState(name, 0, 0, 0, None, 0) for name in sorted(QUEUES)]


async def test_what_is_ready_leased_and_set_for_later(world: World) -> None:
    for _ in range(3):
        await world.create(queue="default:draw")
    (run,) = await world.claim(free=1, queues=share("default:draw"))
    retried = await world.start()
    await world.runs.requeue(retried.task_id, retried.run, "retry", 60_000)
    queues = await read(world)
    draw, default = queues["default:draw"], queues["default"]
    assert (draw.ready, draw.leased, draw.later) == (2, 1, 0)
    assert (default.ready, default.leased, default.later) == (0, 0, 1)
    await finish(world, run)
    assert (await read(world))["default:draw"].leased == 0


async def test_shares_of_more_than_are_looked_at_are_estimated(world: World) -> None:
    """1000 of these are looked at, which are first by their score."""
    for number in range(1000):
        queue = "default" if number % 4 else "plain"
        await world.redis.hset(world.keys.task(f"t{number}"), "queue", queue)
        await world.redis.pexpire(world.keys.task(f"t{number}"), 60_000)
        await world.redis.zadd(world.keys.later(), {f"t{number}": number})
    await world.redis.zadd(world.keys.later(), {f"u{number}": 5000 + number for number in range(1000)})
    queues = await read(world)
    assert (queues["plain"].later, queues["default"].later) == (500, 1500)
    await world.redis.flushdb()


async def test_the_age_of_the_oldest(world: World) -> None:
    young, old = await world.create(), await world.create()
    now = await world.now()
    await world.redis.hset(world.keys.task(young), "created_at", now - 1_000)
    await world.redis.hset(world.keys.task(old), "created_at", now - 90_000)
    oldest = (await read(world))["default"].oldest
    assert oldest is not None
    assert 90_000 <= oldest < 150_000


async def test_an_entry_whose_task_expired_has_no_age(world: World) -> None:
    await world.forget(await world.create())
    assert (await read(world))["default"].oldest is None


async def test_workers_that_are_heard_of_by_the_queues_that_they_serve(world: World) -> None:
    for name, served in (("w1", "plain default"), ("w2", "default"), ("w3", "default")):
        world.beats.beat(name, 0, {"queues": served}, {})
    await world.redis.zadd(world.keys.workers(), {"w3": await world.now() - LEASE - 1})
    assert {name: queue.workers for name, queue in (await read(world)).items()} == {
        "plain": 1,
        "default": 2,
        "default:draw": 0,
        "idle": 0,
    }


async def test_they_are_read_again_only_after_a_while(world: World) -> None:
    clock = Clock()
    store = gauges_of(world, clock)
    first = await store.read()
    await world.create()
    clock.now = 4.9
    assert await store.read() is first
    clock.now = 5.0
    second = await store.read()
    assert second is not None
    assert second.count(Filter())["working"] == 1


async def test_a_store_that_is_away_has_none() -> None:
    nowhere = connect("unix:///nonexistent/socket")
    assert await GaugeStore(Client(nowhere, Keys()), lambda: QUEUES, lease=LEASE).read() is None
