"""The check that no test leaves a key behind can fail."""

from collections.abc import Iterator

import pytest
from fakeredis import FakeRedis

from receiver.store.keys import Keys
from tests.leaks import expire_all, find_leaks, find_remains
from tests.store.world import World

KEYS = Keys()


@pytest.fixture
def redis() -> Iterator[FakeRedis]:
    redis = FakeRedis()
    yield redis
    redis.close()


def test_an_empty_store_has_none(redis: FakeRedis) -> None:
    assert find_leaks(redis, KEYS) == find_remains(redis, KEYS) == []


def test_a_record_without_a_ttl(redis: FakeRedis) -> None:
    redis.hset(KEYS.task("0-1"), "status", "completed")
    assert find_leaks(redis, KEYS) == [f"{KEYS.task('0-1')} has no TTL"]
    redis.expire(KEYS.task("0-1"), 60)
    assert find_leaks(redis, KEYS) == []


def test_a_key_that_is_in_no_table(redis: FakeRedis) -> None:
    redis.set("mcp:{0}:surprise", 1, ex=60)
    assert find_leaks(redis, KEYS) == ["mcp:{0}:surprise is not in the table of keys"]


def test_a_key_of_another_type(redis: FakeRedis) -> None:
    redis.set(KEYS.leases(), 1)
    assert find_leaks(redis, KEYS) == [f"{KEYS.leases()} is a string, and should be a zset"]


def test_permanent_keys_need_no_ttl(redis: FakeRedis) -> None:
    redis.set(KEYS.secret(), "x")
    redis.zadd(KEYS.expiry(), {"ada/0-1/default/task:draw": 1})
    assert find_leaks(redis, KEYS) == []


@pytest.mark.parametrize("name", ["leases", "later", "expiry"])
def test_an_index_that_outlives_its_tasks(redis: FakeRedis, name: str) -> None:
    key = getattr(KEYS, name)()
    redis.zadd(key, {"0-1": 1})
    assert find_remains(redis, KEYS) == [key]


async def test_a_lease_that_was_forgotten(world: World) -> None:
    """What a script that forgot to remove a lease would leave behind."""
    await world.redis.zadd(world.keys.leases(), {"0-1": 1})
    expire_all(world.blocking, world.keys, with_flags=world.with_flags)
    assert find_remains(world.blocking, world.keys) == [world.keys.leases()]
    await world.redis.delete(world.keys.leases())


async def test_a_task_is_over_when_all_time_is(world: World) -> None:
    await world.start()
    assert find_remains(world.blocking, world.keys) != []
    expire_all(world.blocking, world.keys, with_flags=world.with_flags)
    assert find_remains(world.blocking, world.keys) == []
