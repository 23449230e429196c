import asyncio
from collections.abc import AsyncIterator

import pytest

from receiver.store.runs import QueueShare
from tests.workers.claims import new_claim
from tests.workers.stage import Stage, until
from workers.actor import Actors
from workers.doorbell import Doorbell
from workers.roster import Roster

QUEUES = [QueueShare("plain", None, True), QueueShare("default", None, False)]


class Porter:
    """A doorbell of a worker with three slots, one of them for plain calls only."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.roster = Roster(3, 1)
        self.rung = asyncio.Event()
        self.takes_notice = True
        kit = stage.kit
        self.doorbell = Doorbell(kit.redis, kit.keys, kit.worker, QUEUES, self.roster, self.wake)

    def wake(self) -> bool:
        self.rung.set()
        return self.takes_notice

    async def ring(self, queue: str) -> None:
        """As create does."""
        key = self.stage.keys.bell(queue)
        await self.stage.redis.rpush(key, "1")
        await self.stage.redis.pexpire(key, 60_000)

    async def is_listening(self, *queues: str) -> bool:
        """Whether there is one client that waits, for the bells of these queues and its own."""
        return self.doorbell._listening == {
            self.stage.keys.own_bell(self.stage.kit.worker),
            *map(self.stage.keys.bell, queues),
        } and any("b" in client["flags"] for client in await self.stage.redis.client_list())


@pytest.fixture
async def porter(stage: Stage) -> AsyncIterator[Porter]:
    porter = Porter(stage)
    actors = Actors()
    actors.spawn(porter.doorbell.keep_listening())
    yield porter
    await actors.stop()
    await stage.redis.flushall()


@pytest.mark.parametrize("queue", ["plain", "default"])
async def test_a_bell_wakes_the_worker(porter: Porter, queue: str) -> None:
    await until(lambda: porter.is_listening("plain", "default"))
    await porter.ring(queue)
    await porter.rung.wait()


async def test_only_bells_that_a_free_slot_could_serve_are_listened_to(porter: Porter) -> None:
    tasks = porter.roster.add([new_claim("a"), new_claim("b")], 1)
    await until(lambda: porter.is_listening("plain"))
    porter.roster.add([new_claim("c", kind="call")], 2)
    await until(lambda: porter.is_listening())
    await porter.ring("default")
    assert not porter.rung.is_set()
    for run in tasks:
        porter.roster.remove(run)
    assert porter.doorbell.is_deaf
    await porter.doorbell.listen_anew()
    await porter.rung.wait()
    assert not porter.doorbell.is_deaf


async def test_a_worker_that_stops_passes_one_bell_on_and_hears_no_other(porter: Porter) -> None:
    await until(lambda: porter.is_listening("plain", "default"))
    porter.takes_notice = False
    await porter.ring("default")
    await porter.rung.wait()
    await until(lambda: porter.is_listening())
    assert await porter.stage.redis.llen(porter.stage.keys.bell("default")) == 1
    assert 0 < await porter.stage.redis.pttl(porter.stage.keys.bell("default")) <= 60_000


async def test_nobody_listens_anew_where_there_is_no_store() -> None:
    stage = Stage.open(None)
    stage.kit.redis.connection_pool.connection_kwargs["server"].connected = False
    await Porter(stage).doorbell.listen_anew()


async def test_a_full_store_is_no_error_of_the_listener(porter: Porter) -> None:
    await porter.stage.redis.config_set("maxmemory", 1)
    try:
        await porter.doorbell.listen_anew()
    finally:
        await porter.stage.redis.config_set("maxmemory", 0)
