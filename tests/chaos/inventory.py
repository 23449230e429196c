"""Takes stock of the store: every key, its value, and the end of its TTL."""

import time
from typing import Any

from redis.asyncio import Redis

from receiver.protocol.lifecycle import TERMINAL
from receiver.store.keys import Keys
from tests.chaos.evidence import Dump

KEYS = Keys()
BATCH = 500


async def take_stock(redis: Redis) -> Dump:
    """All that there is.  What changes meanwhile is seen in one state or the other."""
    at = time.time()
    names = sorted([name async for name in redis.scan_iter(count=BATCH)])
    types = await _pipe(redis, [("TYPE", name) for name in names])
    values = await _pipe(redis, [_read(kind, name) for kind, name in zip(types, names, strict=True)])
    ttls = await _pipe(redis, [("PTTL", name) for name in names])
    there = {
        name: (_shape(kind, value), ttl)
        for name, kind, value, ttl in zip(names, types, values, ttls, strict=True)
        if kind != "none" and ttl != -2
    }
    records = {
        name.removeprefix(KEYS.task("")): value
        for name, (value, _) in there.items()
        if name.startswith(KEYS.task("")) and name.count(":") == 3
    }
    return Dump(
        at=at,
        ttls={name: ttl for name, (_, ttl) in there.items()},
        values={name: value for name, (value, _) in there.items()},
        records=records,
    )


async def is_quiet(redis: Redis) -> bool:
    """Whether nothing is left to be done: no run, no queue, and no entry of an expired task to be swept."""
    labels = await redis.zrange(KEYS.labels(), 0, -1)
    async with redis.pipeline(transaction=False) as pipe:
        for label in labels:
            for status in ("working", "input_required"):
                pipe.zcard(KEYS.status(status, label))
        pipe.zcard(KEYS.leases())
        pipe.zcard(KEYS.later())
        pipe.zcount(KEYS.expiry(), "-inf", time.time() * 1000)
        counts = await pipe.execute()
    return not any(counts)


def is_over(record: Any) -> bool:
    """Whether the status in a record is terminal."""
    return record.get("status") in TERMINAL


async def _pipe(redis: Redis, commands: list[tuple[Any, ...]]) -> list[Any]:
    answers: list[Any] = []
    for start in range(0, len(commands), BATCH):
        async with redis.pipeline(transaction=False) as pipe:
            for command in commands[start : start + BATCH]:
                pipe.execute_command(*command)
            answers += await pipe.execute(raise_on_error=False)
    return answers


def _read(kind: str, name: str) -> tuple[Any, ...]:
    commands = {
        "hash": ("HGETALL", name),
        "zset": ("ZRANGE", name, 0, -1),
        "set": ("SMEMBERS", name),
        "list": ("LRANGE", name, 0, -1),
        "stream": ("XLEN", name),
    }
    return commands.get(kind, ("GET", name))


def _shape(kind: str, value: Any) -> Any:
    if kind == "hash" and isinstance(value, list):
        return dict(zip(value[::2], value[1::2], strict=True))
    return list(value) if kind in ("zset", "set", "list") else value
