"""The backends of the store's tests, and the check that no test leaves a key behind."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.leaks import expire_all, find_leaks, find_remains
from tests.servers import Server, find_redis, find_valkey, start_server
from tests.store.backends import BACKENDS, Backend
from tests.store.world import World


@pytest.fixture(scope="session")
def valkey_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = start_server(find_valkey(), tmp_path_factory.mktemp("valkey"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    binary = find_redis()
    if binary is None:
        pytest.skip("no redis-server on PATH: these tests ran on fakeredis and on the embedded Valkey only")
    server = start_server(binary, tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture(params=["valkey", "redis"])
def own_server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """A server for this test alone, which it may kill; it keeps all that it acknowledged."""
    binary = find_valkey() if request.param == "valkey" else find_redis()
    if binary is None:
        pytest.skip("no redis-server on PATH")
    server = start_server(binary, tmp_path, "--appendonly", "yes", "--appendfsync", "always")
    yield server
    server.stop()


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    name = request.param
    return Backend(name, None if name == "fakeredis" else request.getfixturevalue(f"{name}_server"))


@pytest.fixture
async def world(backend: Backend) -> AsyncIterator[World]:
    world = World.open(backend)
    yield world
    await world.close()


@pytest.fixture(autouse=True)
def no_leaks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test that leaves a key which nothing will ever take away."""
    if "world" not in request.fixturenames:
        yield
        return
    world: World = request.getfixturevalue("world")
    yield
    assert find_leaks(world.blocking, world.keys) == []
    expire_all(world.blocking, world.keys, with_flags=world.with_flags)
    assert find_remains(world.blocking, world.keys) == []
