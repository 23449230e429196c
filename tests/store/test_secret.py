"""The secret that all nodes share."""

from pydantic import SecretStr

from receiver.store.secret import load_secrets
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
