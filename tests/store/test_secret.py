"""The secret that all nodes share."""

import pytest
from pydantic import SecretStr

from receiver.protocol.errors import StartupError
from receiver.store.secret import load_secrets
from tests.store.backends import on_real_servers
from tests.store.world import World


async def test_secrets_that_are_given_are_used(world: World) -> None:
    assert await load_secrets(world.redis, world.keys, [SecretStr("new"), SecretStr("old")]) == [b"new", b"old"]
    assert await world.dump() == {}


async def test_without_any_all_nodes_agree_on_one(world: World) -> None:
    first = await load_secrets(world.redis, world.keys, [])
    assert len(first[0]) == 64
    assert await load_secrets(world.redis, world.keys, []) == first


async def test_a_new_store_has_a_new_secret(world: World) -> None:
    first = await load_secrets(world.redis, world.keys, [])
    await world.redis.flushall()
    assert await load_secrets(world.redis, world.keys, []) != first


@on_real_servers
async def test_a_node_starts_although_the_store_is_full(world: World) -> None:  # F30
    first = await load_secrets(world.redis, world.keys, [])
    await world.redis.config_set("maxmemory", 1)
    try:
        assert await load_secrets(world.redis, world.keys, []) == first
    finally:
        await world.redis.config_set("maxmemory", 0)


@on_real_servers
async def test_a_store_too_full_for_the_first_secret_is_no_place_to_start(world: World) -> None:
    await world.redis.config_set("maxmemory", 1)
    try:
        with pytest.raises(StartupError, match="memory"):
            await load_secrets(world.redis, world.keys, [])
    finally:
        await world.redis.config_set("maxmemory", 0)
