"""P9: the memory that a finished task takes in Redis, and which of its keys take it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import uvloop
from redis.asyncio import Redis

from tests.bench.row import Plan, Row
from tests.bench.subject import APP
from tests.bench.supply import Supply
from tests.bench.work import LOOK_SECONDS
from tests.processes import Valkey, Worker

TASKS = 10_000
STRANGER = "f" * 32
WARM = 200  # tasks that are there before, so that what every store has is there
TOOL = "write"
RESULT_BYTES = 1024
FRAME_BYTES = len('{"content":[{"type":"text","text":""}],"isError":false}')
GOAL = 3 * 1024
COMPACT = 4096  # bytes of a value up to which a record may stay in the encoding that Redis has for small hashes
SAMPLED = 100


@dataclass(frozen=True)
class Stored:
    """Bytes that a finished task takes: ``total`` without ``audit``, its events in a trail that has a limit.

    ``parts``: how ``total`` is made up; the last of them is what Redis needs to find the keys.
    """

    total: float
    audit: float
    parts: Mapping[str, float]


def measure(plan: Plan) -> list[Row]:
    """What a task takes if an owner has many, and if it has that one alone."""
    return uvloop.run(_measure(plan))


async def _measure(plan: Plan) -> list[Row]:
    count = min(TASKS, plan.most)
    folder = plan.folder / "storage"
    folder.mkdir(parents=True, exist_ok=True)
    with Valkey(folder) as valkey:
        supply = await Supply.open(valkey)
        plan.told(f"store {count} tasks of one owner")
        many = await store(valkey, supply, ["a" * 32] * count)
        plan.told(f"store {count} tasks of as many owners")
        single = await store(valkey, supply, [f"{number:032x}" for number in range(count)])
        plan.told(f"store {count} tasks in the compact encoding")
        await supply.redis.config_set("hash-max-listpack-value", COMPACT)
        compact = await store(valkey, supply, ["a" * 32] * count)
        await supply.redis.aclose()
    what = f"memory of a finished task, {RESULT_BYTES} B of result"
    return [
        Row("P9", f"{what}, indexes included", _kib(many.total), "3 KiB", many.total <= GOAL),
        Row("P9", "its parts", _name(many.parts)),
        Row("P9", f"{what}, its owner's only one", _kib(single.total), "3 KiB", single.total <= GOAL),
        Row("P9", "its parts", _name(single.parts)),
        Row("P9", f"{what}, hash-max-listpack-value {COMPACT}", _kib(compact.total)),
        Row("P9", "its parts", _name(compact.parts)),
        Row("P9", "its two events in the audit trail, which has a limit", f"{many.audit:,.0f} B"),
    ]


async def store(valkey: Valkey, supply: Supply, owners: Sequence[str]) -> Stored:
    """Has a worker run a task of each of them, in an empty store, and looks at what is left of it."""
    keys, redis, count = supply.keys, supply.redis, len(owners)
    with Worker(APP, valkey.url) as worker:
        await _run(supply, [STRANGER] * WARM, WARM)
        used, trail = await _used(redis), await _weigh(redis, keys.audit())
        await _run(supply, owners, WARM + count)
        used, trail = await _used(redis) - used, await _weigh(redis, keys.audit()) - trail
        worker.terminate()
    ids = await redis.zrange(keys.status("completed", f"task:{TOOL}"), -SAMPLED, -1)
    lists = await asyncio.gather(*(_weigh(redis, keys.owner(owner)) for owner in set(owners[-SAMPLED:])))
    held = count if len(set(owners)) == 1 else 1
    parts = {
        "record": sum([await _weigh(redis, keys.task(id.decode())) for id in ids]) / len(ids),
        "index of its owner": sum(lists) / len(lists) / held,
        "index of ends": await _weigh(redis, keys.expiry()) / (WARM + count),
        "index of its status": await _weigh(redis, keys.status("completed", f"task:{TOOL}")) / (WARM + count),
    }
    await redis.flushall()
    total = (used - trail) / count
    return Stored(total, trail / count, {**parts, "tables of keys, and what else": total - sum(parts.values())})


async def _run(supply: Supply, owners: Sequence[str], ends: int) -> None:
    """Creates a task of each of them, and waits until so many tasks are over."""
    await supply.create_many(len(owners), TOOL, {"count": RESULT_BYTES - FRAME_BYTES}, owners=owners)
    while await supply.count_ends(TOOL) < ends:  # noqa: ASYNC110 - another process sees to it
        await asyncio.sleep(LOOK_SECONDS)


async def _used(redis: Redis) -> int:
    return int((await redis.info("memory"))["used_memory"])


async def _weigh(redis: Redis, key: str) -> int:
    return int(await redis.memory_usage(key, samples=0) or 0)


def _kib(size: float) -> str:
    return f"{size / 1024:.2f} KiB"


def _name(parts: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {size:,.0f} B" for name, size in parts.items())
