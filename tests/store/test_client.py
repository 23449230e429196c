"""The client: goes on while Redis is away for a moment, and says so when it is away for longer."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from redis._parsers.base import BaseParser
from redis.exceptions import ConnectionError, ResponseError, TimeoutError

from receiver.protocol.errors import Unavailable
from receiver.store.client import Client, connect, is_passing, pause_before
from receiver.store.keys import Keys
from receiver.store.scripts import Argument
from receiver.store.tasks import TaskStore
from tests.proxy import Proxy
from tests.servers import Server
from tests.store.backends import on_real_servers
from tests.store.world import ADA, BOB, World, new_task

REPLIES_THAT_PASS = [
    "LOADING Redis is loading the dataset in memory",
    "READONLY You can't write against a read only replica.",
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
    "NOREPLICAS Not enough good replicas to write.",
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    "CLUSTERDOWN The cluster is down",
    "TRYAGAIN Multiple keys request during rehashing of slot",
    "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
    "ERR max number of clients reached",
]
REPLIES_THAT_STAY = [
    "ERR unknown command 'X'",
    "WRONGTYPE Operation against a key holding the wrong kind of value",
    "OOM command not allowed when used memory > 'maxmemory'.",
    "NOPERM this user has no permissions to run the 'evalsha' command",
    "BUSYGROUP Consumer Group name already exists",
]


@pytest.mark.parametrize("reply", REPLIES_THAT_PASS)
def test_what_passes_by_itself(reply: str) -> None:
    """As redis-py reads the reply: some are classes of their own, the others a text."""
    assert is_passing(BaseParser.parse_error(reply))


@pytest.mark.parametrize("reply", REPLIES_THAT_STAY)
def test_what_does_not(reply: str) -> None:
    assert not is_passing(BaseParser.parse_error(reply))


@pytest.mark.parametrize("error", [ConnectionError(), TimeoutError(), OSError(), BrokenPipeError()])
def test_lost_connections_pass(error: Exception) -> None:
    assert is_passing(error)


def test_pauses_grow_up_to_half_a_second() -> None:
    assert 0 < pause_before(0) <= 0.02
    assert all(0.25 <= pause_before(attempt) <= 0.5 for attempt in (5, 50, 5_000))


# Scripts


async def test_a_server_that_forgot_the_scripts_is_told_again(world: World) -> None:  # F32
    first = await world.create()
    await world.redis.script_flush()
    second = await world.create()
    assert await world.ready() == [first, second]


async def test_an_error_that_stays_is_raised_at_once(world: World) -> None:
    await world.redis.set(world.keys.queue("default"), "no zset")
    with pytest.raises(ResponseError, match=r"WRONGTYPE|wrong kind"):
        await world.client.with_patience(None).call("create", *create_arguments())
    await world.redis.flushall()


def create_arguments() -> list[Argument]:
    task = new_task()
    fields = [item for pair in task.fields.items() for item in pair]
    return [task.id, task.owner, task.queue, task.kind, task.ttl, 10, 10, task.job, *fields]


# Troubles of a running server


class WatchedClient(Client):
    """Remembers what went wrong."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.failed = asyncio.Event()
        self.errors: list[Exception] = []

    async def evaluate(self, name: str, *arguments: Argument, admitted: bool = False) -> Any:
        try:
            return await super().evaluate(name, *arguments, admitted=admitted)
        except Exception as error:
            self.errors.append(error)
            self.failed.set()
            raise


def watched(redis: Any, *, patience: float | None = None) -> tuple[WatchedClient, TaskStore]:
    client = WatchedClient(redis, Keys(), patience=patience)
    return client, TaskStore(client, task_limit=100, queue_limit=100)


TROUBLES = {
    "READONLY": (["REPLICAOF 127.0.0.1 1"], ["REPLICAOF NO ONE"]),
    "NOREPLICAS": (["CONFIG SET min-replicas-to-write 1"], ["CONFIG SET min-replicas-to-write 0"]),
    "MASTERDOWN": (
        ["CONFIG SET replica-serve-stale-data no", "REPLICAOF 127.0.0.1 1"],
        ["REPLICAOF NO ONE", "CONFIG SET replica-serve-stale-data yes"],
    ),
}


@on_real_servers
@pytest.mark.parametrize("trouble", TROUBLES)
async def test_a_trouble_that_passes_is_waited_out(world: World, trouble: str) -> None:
    begin, end = TROUBLES[trouble]
    client, tasks = watched(world.redis)
    for command in begin:
        await world.redis.execute_command(*command.split())
    creating = asyncio.create_task(tasks.create(ADA, new_task()))
    await asyncio.wait({creating, asyncio.create_task(client.failed.wait())}, return_when=asyncio.FIRST_COMPLETED)
    for command in end:
        await world.redis.execute_command(*command.split())
    assert await creating > 0
    assert client.errors


@on_real_servers
async def test_a_busy_server_is_waited_for(world: World) -> None:
    await world.redis.config_set("lua-time-limit", 1)
    client, tasks = watched(world.redis)
    looping = asyncio.create_task(asyncio.to_thread(loop_until_killed, world))
    while not client.errors:  # the server may not have begun to loop
        creating = asyncio.create_task(tasks.create(ADA, new_task()))
        await asyncio.wait({creating, asyncio.create_task(client.failed.wait())}, return_when=asyncio.FIRST_COMPLETED)
    await world.redis.script_kill()
    assert await creating > 0
    await looping
    assert str(client.errors[0]).startswith("BUSY")
    await world.redis.config_set("lua-time-limit", 5000)


def loop_until_killed(world: World) -> None:
    with pytest.raises(ResponseError, match="kill"):
        world.blocking.eval("while true do end", 0)


@on_real_servers
async def test_a_reply_that_was_given_up_is_not_taken_for_the_next(world: World) -> None:  # F48
    first, second = await world.create(), await world.create("bob")
    assert world.backend.server is not None
    async with Proxy(world.backend.server.socket) as proxy:
        redis = connect(proxy.url, connections=1)
        _, tasks = watched(redis)
        await tasks.get(ADA, first)
        proxy.hold()
        reading = asyncio.create_task(tasks.get(ADA, first))
        await proxy.has_held_back()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        proxy.release()
        assert (await tasks.get(BOB, second)).id == second
        assert (await tasks.get_statuses([second, "0-1"])) == ["working", ""]
        await redis.aclose(close_connection_pool=True)


@on_real_servers
@pytest.mark.parametrize("steps", range(12))
async def test_a_call_is_cancelled_at_any_moment(world: World, steps: int) -> None:
    calling = asyncio.create_task(call_for_ever(world))
    for _ in range(steps):
        await asyncio.sleep(0)
    calling.cancel()
    await asyncio.wait({calling})
    assert calling.cancelled()


async def call_for_ever(world: World) -> None:
    while True:
        await world.tasks.get_statuses([])


@on_real_servers
async def test_a_server_that_does_not_answer_costs_no_more_than_patience(world: World) -> None:
    assert world.backend.server is not None
    async with Proxy(world.backend.server.socket) as proxy:
        redis = connect(proxy.url)
        _, tasks = watched(redis, patience=0.2)
        await tasks.get_statuses([])
        proxy.hold()
        with pytest.raises(Unavailable) as unavailable:
            await tasks.get_statuses([])
        assert unavailable.value.data == {"reason": "unavailable", "retryAfterMs": 1000}
        proxy.release()
        assert await tasks.get_statuses([]) == []
        await redis.aclose(close_connection_pool=True)


@on_real_servers
async def test_more_calls_than_connections_wait_for_their_turn(world: World) -> None:
    assert world.backend.server is not None
    redis = connect(world.backend.server.url, connections=2)
    _, tasks = watched(redis)
    await asyncio.gather(*(tasks.create(ADA, new_task()) for _ in range(50)))
    assert len(await world.ready()) == 50
    assert len(await world.redis.client_list()) < 10
    await redis.aclose(close_connection_pool=True)


# A server that goes away


@pytest.fixture
async def connection(own_server: Server) -> AsyncIterator[Any]:
    redis = connect(own_server.url)
    yield redis
    await redis.aclose(close_connection_pool=True)


async def test_a_server_that_stays_away_is_unavailable(own_server: Server, connection: Any) -> None:
    client, tasks = watched(connection, patience=0.3)
    await tasks.get_statuses([])
    own_server.kill()
    with pytest.raises(Unavailable):
        await tasks.create(ADA, new_task())
    assert len(client.errors) > 1


async def test_it_goes_on_by_itself_when_the_server_is_back(own_server: Server, connection: Any) -> None:
    client, tasks = watched(connection)
    first, second = new_task(), new_task()
    await tasks.create(ADA, first)
    own_server.kill()
    creating = asyncio.create_task(tasks.create(ADA, second))
    await client.failed.wait()
    await asyncio.to_thread(own_server.restart)
    assert await creating > 0
    assert await tasks.get_statuses([first.id, second.id]) == ["working", "working"]


async def test_a_server_that_was_never_there_is_unavailable(tmp_path: Path) -> None:
    redis = connect(f"unix://{tmp_path}/none")
    _, tasks = watched(redis, patience=0.1)
    with pytest.raises(Unavailable):
        await tasks.get_statuses([])
    await redis.aclose(close_connection_pool=True)
