"""Commands that are ready at the same time go out together, and none of them knows of the others."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError, NoScriptError

from receiver.store.client import connect
from receiver.store.flights import MOST, Command, Flights
from tests.proxy import Proxy
from tests.store.world import World


class CountedFlights(Flights):
    """Remembers how many commands each flight had."""

    def __init__(self, redis: Redis, *, seconds: float = 5.0) -> None:
        super().__init__(redis, seconds=seconds)
        self.sizes: list[int] = []

    async def _exchange(self, commands: Sequence[Command], answers: list[Any]) -> None:
        self.sizes.append(len(commands))
        await super()._exchange(commands, answers)


@pytest.fixture
async def flights(world: World) -> CountedFlights:
    return CountedFlights(world.redis)


async def test_what_is_ready_together_goes_together(flights: CountedFlights) -> None:
    answers = await asyncio.gather(*(flights.send("ECHO", str(number)) for number in range(10)))
    assert answers == [str(number).encode() for number in range(10)]
    assert flights.sizes == [10]


async def test_a_flight_is_not_too_large(flights: CountedFlights) -> None:
    answers = await asyncio.gather(*(flights.send("ECHO", str(number)) for number in range(2 * MOST + 1)))
    assert answers == [str(number).encode() for number in range(2 * MOST + 1)]
    assert flights.sizes == [MOST, MOST, 1]


async def test_an_error_is_that_of_one_command(flights: CountedFlights) -> None:
    commands: list[tuple[str | int, ...]] = [("ECHO", "a"), ("EVALSHA", "0" * 40, 0), ("ECHO", "b")]
    first, second, third = await asyncio.gather(*(flights.send(*one) for one in commands), return_exceptions=True)
    assert [first, third] == [b"a", b"b"]
    assert isinstance(second, NoScriptError)


async def test_who_gives_up_takes_no_other_along(flights: CountedFlights) -> None:
    leaving, staying = (asyncio.ensure_future(flights.send("ECHO", word)) for word in ("a", "b"))
    await asyncio.sleep(0)  # both have boarded
    leaving.cancel()
    assert await staying == b"b"
    assert leaving.cancelled()
    assert flights.sizes == [2]
    assert await flights.send("ECHO", "c") == b"c"


async def test_a_connection_that_breaks_fails_its_own_flight(world: World) -> None:
    if world.backend.server is None:
        pytest.skip("fakeredis has no connections")
    async with Proxy(world.backend.server.socket) as proxy:
        redis = connect(proxy.url)
        flights = CountedFlights(redis, seconds=0.5)
        assert list(await asyncio.gather(flights.send("ECHO", "a"), flights.send("ECHO", "b"))) == [b"a", b"b"]
        proxy.hold()
        lost = await asyncio.gather(flights.send("ECHO", "a"), flights.send("ECHO", "b"), return_exceptions=True)
        assert all(isinstance(error, TimeoutError | ConnectionError) for error in lost)
        proxy.release()
        assert await flights.send("ECHO", "c") == b"c"
        await redis.aclose(close_connection_pool=True)
