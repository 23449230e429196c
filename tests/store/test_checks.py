"""What is asked of a Redis at start, and the one line that says what is wrong with it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from receiver.protocol.errors import StartupError
from receiver.store.checks import check_server, hide_password
from receiver.store.client import connect
from tests.store.backends import on_real_servers
from tests.store.world import World

URL = "redis://:secret@example.test:6379/0"


@pytest.fixture
async def durable(world: World) -> AsyncIterator[None]:
    """The server has an append-only file, for the time of a test."""
    await world.redis.config_set("appendonly", "yes")
    yield
    await world.redis.config_set("appendonly", "no")
    await world.redis.config_set("appendfsync", "everysec")


@on_real_servers
@pytest.mark.usefixtures("durable")
@pytest.mark.parametrize(
    ("durability", "fsync"), [(None, "no"), ("everysec", "everysec"), ("everysec", "always"), ("always", "always")]
)
async def test_a_good_server_needs_no_word(world: World, durability: Any, fsync: str) -> None:
    await world.redis.config_set("appendfsync", fsync)
    assert await check_server(world.redis, URL, durability) is None


@on_real_servers
@pytest.mark.usefixtures("durable")
@pytest.mark.parametrize(("durability", "fsync"), [("everysec", "no"), ("always", "no"), ("always", "everysec")])
async def test_a_server_that_keeps_less_than_demanded_is_refused(world: World, durability: Any, fsync: str) -> None:
    await world.redis.config_set("appendfsync", fsync)
    with pytest.raises(StartupError) as refused:
        await check_server(world.redis, URL, durability)
    assert str(refused.value) == (
        f"RECEIVER_DURABILITY={durability} needs a Redis with appendfsync {durability}, not {fsync}"
    )


@on_real_servers
async def test_a_server_without_an_append_only_file(world: World) -> None:
    """It is refused where it matters, and else there is a warning."""
    assert "has no append-only file" in str(await check_server(world.redis, URL))
    with pytest.raises(StartupError, match=r"^RECEIVER_DURABILITY=everysec needs a Redis with appendonly yes$"):
        await check_server(world.redis, URL, "everysec")


@on_real_servers
@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
async def test_a_server_that_evicts_is_refused(world: World, policy: str) -> None:  # F29
    await world.redis.config_set("maxmemory-policy", policy)
    try:
        with pytest.raises(StartupError, match=f"evicts keys.* not {policy}$"):
            await check_server(world.redis, URL)
    finally:
        await world.redis.config_set("maxmemory-policy", "noeviction")


@on_real_servers
@pytest.mark.usefixtures("durable")
async def test_a_server_without_config_tells_its_policy_in_info(world: World) -> None:
    """As managed services do, which refuse CONFIG."""
    await world.redis.execute_command("ACL", "SETUSER", "guest", "on", "nopass", "~*", "+@all", "-config")
    assert world.backend.server is not None
    guest = connect(f"{world.backend.server.url}?username=guest&password=x")
    try:
        assert await check_server(guest, URL) is None
        doubt = "this Redis does not tell its appendfsync: make sure that it is always"
        assert await check_server(guest, URL, "always") == doubt
    finally:
        await guest.aclose(close_connection_pool=True)
        await world.redis.execute_command("ACL", "DELUSER", "guest")


@on_real_servers
async def test_wrong_credentials_are_one_line_without_them(world: World) -> None:
    assert world.backend.server is not None
    stranger = connect(f"{world.backend.server.url}?username=nobody&password=secret")
    with pytest.raises(StartupError, match="refuses the credentials") as refused:
        await check_server(stranger, URL)
    assert "secret" not in str(refused.value)
    assert "\n" not in str(refused.value)
    await stranger.aclose(close_connection_pool=True)


async def test_a_server_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    redis = connect(f"unix://{tmp_path}/none")
    with pytest.raises(StartupError, match="can't be reached") as refused:
        await check_server(redis, URL)
    assert "secret" not in str(refused.value)
    assert "\n" not in str(refused.value)
    await redis.aclose(close_connection_pool=True)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://host:6379/0", "redis://host:6379/0"),
        ("redis://:secret@host:6379/0", "redis://***@host:6379/0"),
        ("rediss://user:sec@ret@host", "rediss://***@host"),
        ("unix:///run/redis.sock", "unix:///run/redis.sock"),
        ("unix:///run/redis.sock?password=secret", "unix:///run/redis.sock?***"),
        ("redis://host/0?username=me&password=secret", "redis://host/0?***"),
        ("redis+sentinel://:secret@one,two:1/tasks?sentinel_password=own", "redis+sentinel://***@one,two:1/tasks?***"),
    ],
)
def test_no_password_is_shown(url: str, shown: str) -> None:
    assert hide_password(url) == shown
