"""The ttl of a task ends: whatever it was doing, nothing of it is left."""

from collections.abc import Callable
from typing import Any

import pytest
from redis import Redis

from receiver.store.keys import Keys
from tests.acceptance.deployment import Deploy, until
from tests.acceptance.requestor import RpcError
from tests.leaks import find_leaks

TTL = 1500


def dump(redis: Redis) -> str:
    """All that stands in the store, but for the audit trail, which remembers who did what for longer."""
    read: dict[str, Callable[[str], Any]] = {
        "hash": redis.hgetall,
        "list": lambda key: redis.lrange(key, 0, -1),
        "set": redis.smembers,
        "stream": redis.xrange,
        "string": redis.get,
        "zset": lambda key: redis.zrange(key, 0, -1),
        "none": lambda key: None,  # it went away meanwhile
    }
    return repr([(key, read[str(redis.type(key))](key)) for key in redis.scan_iter() if key != Keys().audit()])


async def test_nothing_is_left_of_expired_tasks(deploy: Deploy) -> None:
    """T-94"""
    deployment = await deploy(workers=1, worker_concurrency=1)
    one, other = [node.alice for node in deployment.nodes]
    lasting = await one.create("instant", label="lasting")
    finished = await one.create("instant", label="finished", ttl=TTL)
    await one.result(finished)
    running = await one.create("gated", label="running", ttl=2 * TTL)
    await deployment.wait_for_trace("start", "running")
    waiting = await one.create("gated", label="waiting", ttl=TTL)
    cancelled = await one.create("gated", label="cancelled", ttl=TTL)
    await one.cancel(cancelled)
    for task_id in (waiting, running):
        with pytest.raises(RpcError, match="Task has expired"):
            await other.result(task_id)
    await deployment.wait_for_trace("cancelled", "running")
    expired = (finished, running, waiting, cancelled)
    with Redis.from_url(deployment.store.url, decode_responses=True) as redis:
        await until(lambda: not [task_id for task_id in expired if task_id in dump(redis)])
        assert find_leaks(redis, Keys()) == []
    for task_id in expired:
        with pytest.raises(RpcError, match="Task not found"):
            await other.get(task_id)
    assert [task["taskId"] for task in await other.list()] == [lasting]
    assert {trace.label for trace in deployment.traces("start")} == {"lasting", "finished", "running"}
