"""A store that Sentinels watch over: the master is found, and found again when it is another server."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redis.exceptions import ConnectionError, ReadOnlyError

from receiver.hub import Hub
from receiver.protocol.errors import StartupError
from receiver.store.checks import check_server
from receiver.store.client import Client, connect
from receiver.store.keys import Keys
from receiver.store.pool import connect_blocking
from receiver.store.sentinel import Sentinels, parse_sentinel_url
from receiver.store.tasks import TaskStore
from receiver.store.workers import WorkerStore
from tests.sentinels import Group, running_group
from tests.servers import find_redis, find_valkey
from tests.store.world import ADA, new_task

KEYS = Keys()


@pytest.fixture(params=["valkey", "redis"])
def group(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Group]:
    binary = find_valkey() if request.param == "valkey" else find_redis()
    if binary is None:
        pytest.skip("no redis-server on PATH")
    with running_group(binary, tmp_path) as running:
        yield running


def tasks_over(redis: Any) -> TaskStore:
    return TaskStore(Client(redis, KEYS, patience=20.0), task_limit=100, queue_limit=100)


@pytest.mark.parametrize("way", ["killed", "demoted"])
async def test_nothing_is_lost_when_another_becomes_the_master(group: Group, way: str) -> None:
    """What had reached the replica is there, a call under way ends well, and who waits hears of what happens then."""
    redis = connect(group.url)
    tasks, first, second = tasks_over(redis), new_task(), new_task()
    hub = Hub(redis, KEYS.events, tasks.get_statuses)
    hub.start()
    beats = WorkerStore(connect_blocking(group.url, seconds=2.0), KEYS, lease=10_000)
    created_at = await tasks.create(ADA, first)
    beats.beat("w1", 0, {}, {})
    async with hub.watch(first.id) as watch:
        await asyncio.to_thread(group.settle)
        if way == "killed":
            group.servers[0].kill()
            assert await tasks.create(ADA, second) >= created_at  # waits for the other
        else:
            await asyncio.to_thread(group.fail_over)
            assert await tasks.create(ADA, second) >= created_at
        assert await tasks.get_statuses([first.id, second.id]) == ["working", "working"]
        await asyncio.to_thread(beat_until_heard, beats)
        await tasks.cancel(ADA, first.id, "")
        while (await tasks.get_statuses([first.id])) != ["cancelled"] or not await watch.wait():
            pass
    await hub.stop()
    beats.close()
    await redis.aclose(close_connection_pool=True)
    assert (await ask(group, "GET", "none")) is None


def beat_until_heard(beats: WorkerStore) -> None:
    while True:
        try:
            beats.beat("w1", 0, {}, {})
        except (ConnectionError, ReadOnlyError):
            continue
        return


async def ask(group: Group, *words: str) -> Any:
    redis = connect(group.url)
    try:
        return await redis.execute_command(*words)
    finally:
        await redis.aclose(close_connection_pool=True)


async def test_a_server_that_is_no_master_is_not_read(group: Group) -> None:
    """A Sentinel that is late would lead there."""

    class Late(Sentinels):
        async def find_master(self) -> tuple[str, int]:
            return "127.0.0.1", group.ports[1]

    redis = connect(group.url)
    redis.connection_pool.connection_kwargs["sentinels"] = Late((), "tasks")
    with pytest.raises(ConnectionError, match="no master any more"):
        await redis.get("x")
    await redis.aclose(close_connection_pool=True)


async def test_a_start_without_sentinels_is_one_line() -> None:
    url = "redis+sentinel://:secret@127.0.0.1:1/tasks"
    redis = connect(url)
    with pytest.raises(StartupError, match="can't be reached: no Sentinel knows the master of 'tasks'") as refused:
        await check_server(redis, url)
    assert "secret" not in str(refused.value)
    assert "\n" not in str(refused.value)
    await redis.aclose(close_connection_pool=True)


def test_a_url_names_all() -> None:
    found = parse_sentinel_url(
        "rediss+sentinel://me:p%40ss@one,two:1,[::1]:26380/my%2Fmaster/3?sentinel_password=own&protocol=2"
    )
    assert found is not None
    assert found.hosts == (("one", 26379), ("two", 1), ("::1", 26380))
    assert found.service == "my/master"
    assert found.options | {"protocol": 2} == {"username": "me", "password": "p@ss", "db": 3, "protocol": 2}
    assert found.own == {"password": "own", "ssl": True}
    assert found.with_tls
    assert "p@ss" not in repr(found)
    assert "own'" not in repr(found)


@pytest.mark.parametrize("url", ["redis+sentinel://", "redis+sentinel://host", "redis+sentinel:///name"])
def test_a_url_without_a_host_or_a_name_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="needs hosts and the name of a master"):
        connect(url)


@pytest.mark.parametrize("url", ["redis://host/0", "rediss://host", "unix:///run/redis.sock"])
def test_other_urls_are_not_for_sentinels(url: str) -> None:
    assert parse_sentinel_url(url) is None
