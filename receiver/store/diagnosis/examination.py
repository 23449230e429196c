"""Reads what ``verdict`` judges: in a few round trips, from the indexes, and without a SCAN."""

import asyncio
import time
from collections.abc import Coroutine, Iterable, Mapping
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from receiver.protocol.errors import ReceiverError
from receiver.protocol.lifecycle import STATUSES
from receiver.settings import Durability
from receiver.store.census import Census, WorkerView
from receiver.store.checks import read_manners
from receiver.store.client import Client
from receiver.store.condition import PROBE, describe
from receiver.store.diagnosis.facts import Facts, Replica, ServerFacts, TaskFacts
from receiver.store.diagnosis.strays import is_stray

SAMPLE = 100  # tasks from each end of each index
RANDOM_KEYS = 1000
LONG_AGO_MS = 60_000
PINGS = 5
_WRITES = ("rdb_last_bgsave_status", "aof_last_write_status", "aof_last_bgrewrite_status")


async def examine(client: Client, durability: Durability | None) -> Facts:
    """Everything; of a server that runs no scripts, what it says of itself.

    Raises redis-py's errors, and Unavailable, where the store does not answer.
    """
    server = await _read_server(client.redis)
    try:
        return await _read_contents(client, server, durability)
    except (ReceiverError, RedisError):
        if server.refusal is None:
            raise
        return Facts(durability, server, is_partial=True)


async def _read_contents(client: Client, server: ServerFacts, durability: Durability | None) -> Facts:
    census = Census(client)
    nodes, workers = await asyncio.gather(census.list_nodes(), census.list_workers())
    tasks = [task for found in await asyncio.gather(*_read_tasks(client)) for task in found]
    long_ago = max([LONG_AGO_MS, *(6 * worker.lease for worker in workers)])
    queues = _name_queues(workers, tasks)
    unswept, overdue, late, lasting, sizes = await client.call("examine_store", long_ago, RANDOM_KEYS, *queues)
    return Facts(
        durability=durability,
        server=server,
        nodes=tuple(nodes),
        workers=tuple(workers),
        tasks=tuple(tasks),
        queues={name.decode(): size for name, size in zip(sizes[::2], sizes[1::2], strict=True)},
        strays=tuple(key for key in map(_decode, lasting) if is_stray(client.keys, key)),
        unswept=unswept,
        overdue=overdue,
        late=late,
        long_ago=long_ago,
    )


async def _read_server(redis: Redis) -> ServerFacts:
    manners = await read_manners(redis)
    info: Mapping[str, Any] = await redis.info()
    return ServerFacts(
        manners=manners,
        total=int(info.get("total_system_memory", 0)),
        is_replica=info.get("role") == "slave",
        is_linked=info.get("master_link_status", "up") == "up",
        replicas=tuple(_read_replicas(info)),
        failures=tuple(name for name in _WRITES if info.get(name, "ok") != "ok"),
        refusal=await _probe(redis),
        ping=await _time_pings(redis),
    )


def _read_replicas(info: Mapping[str, Any]) -> Iterable[Replica]:
    for number in range(int(info.get("connected_slaves", 0))):
        said = info.get(f"slave{number}")
        if isinstance(said, dict):
            yield Replica(f"{said.get('ip')}:{said.get('port')}", str(said.get("state")), int(said.get("lag", 0)))


async def _probe(redis: Redis) -> str | None:
    """Why a script that might write is refused, if it is."""
    try:
        await redis.execute_command("EVAL", PROBE, 0)
    except RedisError as error:
        return describe(error)
    return None


async def _time_pings(redis: Redis) -> float:
    """The shortest of a few: what the others had on top was not the way to the server."""
    times = []
    for _ in range(PINGS):
        began = time.perf_counter()
        await redis.ping()
        times.append((time.perf_counter() - began) * 1000)
    return min(times)


def _read_tasks(client: Client) -> Iterable[Coroutine[None, None, list[TaskFacts]]]:
    """Tasks from both ends of the index of each status."""
    return (_read_status(client, status) for status in STATUSES)


async def _read_status(client: Client, status: str) -> list[TaskFacts]:
    found = await client.call("examine_tasks", status, SAMPLE)
    return [_to_task(status, *entry) for entry in found]


def _to_task(
    indexed: str, task_id: bytes, pttl: int, status: bytes, queue: bytes, worker: bytes, *flags: int
) -> TaskFacts:
    return TaskFacts(
        task_id.decode(), indexed, pttl, status.decode(), queue.decode(), worker.decode(), *map(bool, flags)
    )


def _name_queues(workers: Iterable[WorkerView], tasks: Iterable[TaskFacts]) -> list[str]:
    """All that is known of by anyone; the store adds those that were ever served."""
    served = {queue for worker in workers for queue in worker.queues}
    return sorted(served | {task.queue for task in tasks if task.queue})


def _decode(key: bytes) -> str:
    return key.decode(errors="replace")
