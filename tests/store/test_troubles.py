"""What a server can suffer: calls wait until it is over, and readiness says what it is."""

import asyncio
import resource
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
from redis import Redis as BlockingRedis
from redis.exceptions import ReadOnlyError, ResponseError
from structlog.testing import capture_logs

from receiver.cancellation import cancel_all
from receiver.store import condition
from receiver.store.client import Client, connect
from receiver.store.condition import find_fault
from receiver.store.keys import Keys
from receiver.store.pool import connect_blocking
from receiver.store.tasks import TaskStore
from receiver.store.workers import WorkerStore
from tests.proxy import Proxy
from tests.servers import Server, find_redis, find_valkey, start_server
from tests.store.world import ADA, new_task

LOADED = 3_000  # keys, so that a load at LOAD_DELAY lasts longer than it takes to ask
LOAD_DELAY = "500"  # us a key
OPTIONS = ("--appendonly", "yes", "--appendfsync", "everysec", "--dbfilename", "taken")
LOADING = ("--key-load-delay", LOAD_DELAY, "--loading-process-events-interval-bytes", "1024")


@pytest.fixture(params=["valkey", "redis"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    binary = find_valkey() if request.param == "valkey" else find_redis()
    if binary is None:
        pytest.skip("no redis-server on PATH")
    running = start_server(binary, tmp_path, *OPTIONS, *LOADING)
    yield running
    running.stop()


@pytest.fixture
async def redis(server: Server) -> AsyncIterator[Any]:
    connection = connect(server.url)
    yield connection
    await connection.aclose(close_connection_pool=True)


def tasks_over(redis: Any, *, patience: float | None = 20.0) -> TaskStore:
    return TaskStore(Client(redis, Keys(), patience=patience), task_limit=100, queue_limit=100)


async def until_fault(redis: Any, fault: str) -> None:
    """Returns when readiness says this of the store."""
    found = None
    for _ in range(2_000):
        if (found := await find_fault(redis)) == fault:
            return
        await asyncio.sleep(0.005)
    raise AssertionError(f"not {fault!r} but {found!r}")


class Trouble(Protocol):
    """A trouble that a server has as long as it is entered."""

    def __call__(self, server: Server, redis: Any) -> AbstractAsyncContextManager[None]: ...


@asynccontextmanager
async def replica(server: Server, redis: Any) -> AsyncIterator[None]:
    await redis.replicaof("127.0.0.1", "1")
    yield
    await redis.replicaof("NO", "ONE")


@asynccontextmanager
async def without_replicas(server: Server, redis: Any) -> AsyncIterator[None]:
    await redis.config_set("min-replicas-to-write", 1)
    yield
    await redis.config_set("min-replicas-to-write", 0)


@asynccontextmanager
async def busy(server: Server, redis: Any) -> AsyncIterator[None]:
    await redis.config_set("lua-time-limit", 1)
    looping = asyncio.create_task(asyncio.to_thread(loop_until_killed, server))
    await until_fault(redis, "the store is busy with a script")
    yield
    await redis.script_kill()
    await looping


def loop_until_killed(server: Server) -> None:
    with BlockingRedis.from_url(server.url) as blocking, pytest.raises(ResponseError, match="kill"):
        blocking.eval("while true do end", 0)


@asynccontextmanager
async def without_snapshots(server: Server, redis: Any) -> AsyncIterator[None]:
    """A snapshot can't take its place, since that is taken by a folder."""
    folder = Path((await redis.config_get("dir"))["dir"]) / "taken"
    (folder / "x").mkdir(parents=True)
    await redis.config_set("save", "3600 1")
    await redis.bgsave()
    yield
    await redis.config_set("save", "")


@asynccontextmanager
async def full_disk(server: Server, redis: Any) -> AsyncIterator[None]:
    """No file may grow any more.  What was acknowledged meanwhile is written as soon as there is room."""
    limits = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
    folder = Path((await redis.config_get("dir"))["dir"])
    largest = max(file.stat().st_size for file in folder.rglob("*.aof"))  # noqa: ASYNC240 - a handful
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (largest, limits[1]))
    await redis.set("any", "x", px=60_000)
    yield
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, limits)


@asynccontextmanager
async def loading(server: Server, redis: Any) -> AsyncIterator[None]:
    async with redis.pipeline(transaction=False) as pipe:
        for number in range(LOADED):
            pipe.set(f"filler:{number}", "x")
        pipe.bgrewriteaof()  # a snapshot is loaded in smaller parts than commands, and it answers between them
        await pipe.execute()
    while (await redis.info("persistence"))["aof_rewrite_in_progress"]:  # noqa: ASYNC110 - another process does it
        await asyncio.sleep(0.01)
    restarting = asyncio.create_task(asyncio.to_thread(server.restart))
    yield
    await restarting


TROUBLES = {
    "the store is a replica and takes no writes": replica,  # READONLY
    "the store has too few replicas to take writes": without_replicas,  # NOREPLICAS
    "the store is busy with a script": busy,  # BUSY
    "the store can't write to its disk": without_snapshots,  # MISCONF
    "the store is loading its data": loading,  # LOADING
}


@pytest.mark.parametrize("fault", TROUBLES)
async def test_a_trouble_is_waited_out_and_told(server: Server, redis: Any, fault: str) -> None:  # F32
    tasks, trouble = tasks_over(redis), TROUBLES[fault]
    first, second = new_task(), new_task()
    await tasks.create(ADA, first)
    async with trouble(server, redis):
        await until_fault(redis, fault)
        creating = asyncio.create_task(tasks.create(ADA, second))
    assert await creating > 0
    assert await tasks.get_statuses([first.id, second.id]) == ["working", "working"]
    assert await find_fault(redis) is None


async def test_a_full_disk_stops_creation_and_loses_nothing(server: Server, redis: Any) -> None:  # F31
    tasks = tasks_over(redis)
    first, second = new_task(), new_task()
    await tasks.create(ADA, first)
    async with full_disk(server, redis):
        await until_fault(redis, "the store can't write to its disk")
        assert await tasks.get_statuses([first.id]) == ["working"]
        creating = asyncio.create_task(tasks.create(ADA, second))
    assert await creating > 0
    await asyncio.to_thread(server.restart)
    assert await tasks.get_statuses([first.id, second.id]) == ["working", "working"]


async def test_scripts_are_flushed_all_the_time(redis: Any) -> None:  # F32
    tasks, done = tasks_over(redis), asyncio.Event()

    async def keep_flushing() -> None:
        while not done.is_set():
            await redis.script_flush()

    flushing = asyncio.create_task(keep_flushing())
    created = [new_task() for _ in range(50)]
    await asyncio.gather(*(tasks.create(ADA, new) for new in created))
    done.set()
    await flushing
    assert await tasks.get_statuses([new.id for new in created]) == ["working"] * 50
    assert await redis.zcard(Keys().queue("default")) == 50


class CountingClient(Client):
    """Counts what went wrong."""

    failures = 0

    async def evaluate(self, *arguments: Any, **options: Any) -> Any:
        try:
            return await super().evaluate(*arguments, **options)
        except BaseException:  # an attempt that takes too long is cancelled
            self.failures += 1
            raise


async def test_one_silent_connection_makes_all_be_opened_anew(server: Server) -> None:
    """Half-open ones: what is sent on them is never answered.  Only the first call has to wait."""
    async with Proxy(server.socket) as proxy:
        redis = connect(proxy.url)
        client = CountingClient(redis, Keys(), patience=2.0)
        tasks = TaskStore(client, task_limit=100, queue_limit=100)
        await asyncio.gather(*(redis.ping() for _ in range(5)))  # scripts would share one
        assert proxy.accepted == 5
        proxy.mute()
        new = new_task()
        assert await tasks.create(ADA, new) > 0
        await asyncio.gather(*(tasks.get_statuses([new.id]) for _ in range(5)))
        assert client.failures == 1
        await redis.aclose(close_connection_pool=True)


async def test_a_name_that_leads_to_another_master(server: Server, tmp_path: Path) -> None:
    """As those of managed services do; the old one stays, and all connections to it."""
    other = start_server(find_valkey(), tmp_path / "other")
    try:
        async with Proxy(server.socket) as proxy:
            redis = connect(proxy.url)
            blocking = connect_blocking(proxy.url, seconds=5.0)
            tasks, beats = tasks_over(redis), WorkerStore(blocking, Keys(), lease=10_000)
            await asyncio.gather(*(tasks.get_statuses([]) for _ in range(5)))
            await asyncio.to_thread(beats.beat, "w1", 0, {}, {})
            proxy.lead_to(other.socket)
            await redis.replicaof("127.0.0.1", "1")
            new = new_task()
            assert await tasks.create(ADA, new) > 0
            assert await asyncio.gather(*(tasks.get_statuses([new.id]) for _ in range(5))) == [["working"]] * 5
            with pytest.raises(ReadOnlyError):
                await asyncio.to_thread(beats.beat, "w1", 0, {}, {})
            assert await asyncio.to_thread(beats.beat, "w1", 0, {}, {}) == {}
            blocking.close()
            await redis.aclose(close_connection_pool=True)
    finally:
        other.stop()


# Before it refuses


async def test_readiness_is_red_before_a_store_is_full(redis: Any) -> None:  # F30
    """At a size where what connections take does not matter."""
    await redis.setrange("filler", 20_000_000, b"x")  # no large command, whose buffer would count for a while
    used = (await redis.info("memory"))["used_memory"]
    await redis.config_set("maxmemory", int(used * 1.06))
    assert await find_fault(redis) == "the store is full: 94 % of its maxmemory are used"
    assert await tasks_over(redis).create(ADA, new_task()) > 0
    await redis.config_set("maxmemory", used * 2)
    assert await find_fault(redis) is None


async def test_readiness_is_red_when_keys_are_evicted(redis: Any) -> None:  # F29
    await redis.config_set("maxmemory-policy", "volatile-lru")
    assert "set its maxmemory-policy to noeviction, not volatile-lru" in str(await find_fault(redis))


async def test_readiness_is_red_when_less_is_kept_than_demanded(redis: Any) -> None:
    assert await find_fault(redis, "everysec") is None
    assert "needs a Redis with appendfsync always, not everysec" in str(await find_fault(redis, "always"))


async def test_readiness_is_red_without_a_server(server: Server, redis: Any) -> None:
    assert await find_fault(redis) is None
    server.kill()
    assert await find_fault(redis) == "the store does not answer (ConnectionError)"


async def test_what_changes_while_it_serves_is_logged_once(redis: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # F29
    monkeypatch.setattr(condition, "INSPECT_SECONDS", 0.01)
    with capture_logs() as logs:
        inspecting = asyncio.create_task(condition.keep_inspecting(redis, None))
        await redis.config_set("maxmemory-policy", "allkeys-lru")
        await until_logged(logs, "store_fault")
        await redis.config_set("maxmemory-policy", "noeviction")
        await until_logged(logs, "store_well")
        await cancel_all([inspecting])
    assert [entry["event"] for entry in logs] == ["store_fault", "store_well"]


async def until_logged(logs: Sequence[Mapping[str, Any]], event: str) -> None:
    while not any(entry["event"] == event for entry in logs):  # noqa: ASYNC110 - there is nothing to wait for
        await asyncio.sleep(0.01)
