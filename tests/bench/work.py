"""P7 and P8: what a worker process does in a second, what that costs, and how soon it takes up a task; beside arq."""

import asyncio
import random
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import orjson
import uvloop
from arq.connections import ArqRedis, RedisSettings, create_pool
from arq.jobs import Job
from redis.asyncio import Redis

from tests.bench import stock
from tests.bench.row import Plan, Row
from tests.bench.stock import FASTEST, Stock
from tests.bench.subject import APP, SETTINGS
from tests.bench.supply import Supply
from tests.processes import Child, Valkey, Worker
from tests.scale.figures import seconds_of

TASKS_A_SECOND = 1_000  # so many are waiting for each second of the plan
LOOK_SECONDS = 0.01
Measured = TypeVar("Measured")
SETTLE_SECONDS = 1.0  # until a worker that was started is idle
LEAST = 3  # tasks of a round, however short it is
FLIGHTS = "round trips of a worker for a task"
IDLE = "round trips of an idle worker, a second"


@dataclass(frozen=True)
class Work:
    """A queue that was worked off: tasks a second; for each, microseconds of CPU and the worker's flights to Redis."""

    rate: float
    worker: float
    redis: float
    flights: float


@dataclass(frozen=True)
class Idle:
    """A worker that had nothing to do: its flights to Redis in a second.

    ``pickups``: milliseconds from just before a task was created to the first line of its function.
    """

    flights: float
    pickups: list[float]


class Crew(Protocol):
    """A kind of worker, on a Redis of its own."""

    name: str
    valkey: Valkey
    redis: Redis
    pause: float  # seconds at most between one task and the next, so that it is idle

    def start(self) -> Child: ...

    async def fill(self, count: int) -> None: ...

    async def count_left(self) -> int: ...

    async def ask(self) -> str:
        """Has the time told by a worker, once."""

    async def hear(self, id: str) -> int | None:
        """What it told, in nanoseconds; None as long as it did not."""

    async def close(self) -> None: ...


class Ours(Crew):
    """``receiver work``, with as many slots as it has by default, or with ``slots``."""

    pause = 0.05

    def __init__(self, valkey: Valkey, supply: Supply, slots: int | None = None) -> None:
        self.name = "the worker" if slots is None else f"the worker with {slots} slots"
        self.valkey, self.redis, self._supply = valkey, supply.redis, supply
        self._settings: dict[str, Any] = SETTINGS if slots is None else SETTINGS | {"worker_concurrency": slots}

    def start(self) -> Child:
        return Worker(APP, self.valkey.url, **self._settings)

    async def fill(self, count: int) -> None:
        await self._supply.create_many(count)

    async def count_left(self) -> int:
        return int(await self.redis.zcard(self._supply.keys.status("working", "task:instant")))

    async def ask(self) -> str:
        return await self._supply.create("clock", {})

    async def hear(self, id: str) -> int | None:
        payload = await cast(Awaitable[bytes | None], self.redis.hget(self._supply.keys.task(id), "payload"))
        return None if payload is None else int(orjson.loads(payload)["content"][0]["text"])

    async def close(self) -> None:
        await self.redis.aclose()


class Arq(Crew):
    """Stock arq."""

    pause = 0.5

    def __init__(self, name: str, valkey: Valkey, redis: ArqRedis, settings: Stock) -> None:
        self.name, self.valkey, self.redis = name, valkey, redis
        self._arq, self._settings = redis, settings

    @classmethod
    async def open(cls, name: str, valkey: Valkey, settings: Stock) -> "Arq":
        """Connects to its Redis."""
        return cls(name, valkey, await create_pool(RedisSettings.from_dsn(valkey.url)), settings)

    def start(self) -> Child:
        return self._settings.start(self.valkey.url)

    async def fill(self, count: int) -> None:
        await stock.fill(self._arq, count)

    async def count_left(self) -> int:
        return int(await self.redis.zcard("arq:queue"))

    async def ask(self) -> str:
        job = await self._arq.enqueue_job("clock")
        assert job is not None
        return job.job_id

    async def hear(self, id: str) -> int | None:
        told = await Job(id, self._arq).result_info()
        return None if told is None else int(told.result)

    async def close(self) -> None:
        await self._arq.aclose()


def measure(plan: Plan) -> list[Row]:
    """Rates, costs and pickup latencies."""
    return uvloop.run(_measure(plan))


async def _measure(plan: Plan) -> list[Row]:
    works: tuple[list[Work], list[Work], list[Work]] = ([], [], [])
    idles: tuple[list[Idle], list[Idle]] = ([], [])
    with ExitStack() as stack:
        ours, wide, fastest, default = crews = await _gather(plan.folder, stack)
        for number in range(plan.rounds):
            for crew, found in zip((ours, wide, fastest), works, strict=True):
                plan.told(f"work off a queue: {crew.name}, round {number + 1} of {plan.rounds}")
                found.append(await work_off(crew, max(1, round(plan.seconds * TASKS_A_SECOND))))
            for crew, seen in zip((ours, default), idles, strict=True):
                plan.told(f"stand by: {crew.name}, round {number + 1} of {plan.rounds}")
                seen.append(await stand_by(crew, plan.seconds))
        for crew in crews:
            await crew.close()
    return [*_rows_of_work(*works), *_rows_of_idle(*idles)]


async def _gather(folder: Path, stack: ExitStack) -> tuple["Ours", "Ours", "Arq", "Arq"]:
    """Ours on one Redis, in turns; each arq on one of its own."""
    stores = []
    for name in ("ours", "arq", "default"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        stores.append(stack.enter_context(Valkey(folder / name)))
    supply = await Supply.open(stores[0])
    fastest = await Arq.open("arq at its best", stores[1], FASTEST)
    default = await Arq.open("stock arq", stores[2], Stock())
    return Ours(stores[0], supply), Ours(stores[0], supply, FASTEST.max_jobs), fastest, default


async def work_off(crew: Crew, count: int) -> Work:
    """Has a new worker do so many tasks; measured from when the first is over to when the last one is."""
    await crew.fill(count)
    watch = await Watch.open(crew)
    with crew.start() as worker:
        await _until(crew, count - 1)
        left, begun = await crew.count_left(), await watch.look(worker)
        await _until(crew, 0)
        ended = await watch.look(worker)
        worker.terminate()
    await crew.redis.flushdb()
    done = max(1, left)
    seconds, *costs = (after - before for after, before in zip(ended, begun, strict=True))
    return Work(done / seconds, 1e6 * costs[0] / done, 1e6 * costs[1] / done, costs[2] / done)


async def stand_by(crew: Crew, seconds: float) -> Idle:
    """Has a new worker do nothing for so long, and then one task at a time."""
    watch = await Watch.open(crew)
    with crew.start() as worker:
        await asyncio.sleep(SETTLE_SECONDS)
        begun = await watch.look(worker)
        await asyncio.sleep(seconds)
        ended = await watch.look(worker)
        pickups = await _pick_up(crew, seconds)
        worker.terminate()
    await crew.redis.flushdb()
    return Idle((ended[3] - begun[3]) / (ended[0] - begun[0]), pickups)


async def _pick_up(crew: Crew, seconds: float) -> list[float]:
    found: list[float] = []
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline or len(found) < LEAST:
        asked = time.time_ns()
        id = await crew.ask()
        while (told := await crew.hear(id)) is None:  # noqa: ASYNC110 - another process sees to it
            await asyncio.sleep(LOOK_SECONDS)
        found.append((told - asked) / 1e6)
        await asyncio.sleep(random.uniform(LOOK_SECONDS, crew.pause))  # noqa: S311 - not a secret
    return found


class Watch:
    """Looks at what a worker and its Redis have used since a moment before it was started."""

    def __init__(self, crew: Crew, own: set[str]) -> None:
        self._crew = crew
        self._own = own

    @classmethod
    async def open(cls, crew: Crew) -> "Watch":
        """Knows which connections are not the worker's."""
        return cls(crew, {client["id"] for client in await crew.redis.client_list()})

    async def look(self, worker: Child) -> tuple[float, float, float, int]:
        """The time, CPU seconds of the worker and of Redis, and the worker's flights.

        A flight is what Redis reads at once: a command, or a pipeline.  CLIENT LIST counts also what scripts call.
        """
        clients = await self._crew.redis.client_list()
        own = sum(int(client["tot-cmds"]) for client in clients if client["id"] in self._own)
        reads = int((await self._crew.redis.info("stats"))["total_reads_processed"])
        return time.monotonic(), seconds_of(worker.pid), seconds_of(self._crew.valkey.pid), reads - own


async def _until(crew: Crew, most: int) -> None:
    """Returns when no more tasks than these are left."""
    while await crew.count_left() > most:  # noqa: ASYNC110 - another process sees to it
        await asyncio.sleep(LOOK_SECONDS)


def _rows_of_work(ours: Sequence[Work], wide: Sequence[Work], arqs: Sequence[Work]) -> list[Row]:
    ratio, wider = (_middle(of) / _middle(arqs) for of in (ours, wide))
    sent = statistics.median(work.flights for work in ours)
    slots = f"the same with {FASTEST.max_jobs} slots"
    return [
        Row("P7", "no-op tasks, one worker", f"{_rate(ours)}: {ratio:.2f} times arq", "1.5 times arq", ratio >= 1.5),
        Row("P7", slots, f"{_rate(wide)}: {wider:.2f} times arq", "1.5 times arq", wider >= 1.5),
        Row("P7", f"the same, arq at its best ({FASTEST.text})", _rate(arqs)),
        Row("P7", FLIGHTS, _spread(ours, lambda of: of.flights), "at most 3", sent <= 3),
        Row("P7", "CPU for a task, worker and Redis", _costs(ours)),
        Row("P7", f"{slots}, CPU", _costs(wide)),
        Row("P7", "the same, arq, CPU", f"{_costs(arqs)}; {_spread(arqs, lambda of: of.flights)} round trips"),
    ]


def _rows_of_idle(ours: Sequence[Idle], arqs: Sequence[Idle]) -> list[Row]:
    sent = statistics.median(idle.flights for idle in ours)
    found = [pickup for idle in ours for pickup in idle.pickups]
    is_soon = statistics.median(found) <= 3 and _late(found) <= 8
    return [
        Row("P7", IDLE, _spread(ours, lambda of: of.flights, 1), "at most 5", sent <= 5),
        Row("P8", "pickup, idle worker", _pickup(found), "p50 3 ms, p99 8 ms", is_soon),
        Row("P8", "the same, stock arq", _pickup([pickup for idle in arqs for pickup in idle.pickups])),
    ]


def _pickup(found: Sequence[float]) -> str:
    middle, late = statistics.median(found), _late(found)
    return f"p50 {middle:.1f} ms, p99 {late:.1f} ms, max {max(found):.1f} ms, of {len(found)}"


def _late(found: Sequence[float]) -> float:
    return sorted(found)[len(found) * 99 // 100]


def _middle(works: Sequence[Work]) -> float:
    return statistics.median(work.rate for work in works)


def _rate(works: Sequence[Work]) -> str:
    return f"{_spread(works, lambda of: of.rate, 0)} a second"


def _costs(works: Sequence[Work]) -> str:
    worker, redis = _spread(works, lambda of: of.worker, 0), _spread(works, lambda of: of.redis, 0)
    return f"{worker} and {redis} us"


def _spread(of: Sequence[Measured], value: Callable[[Measured], float], digits: int = 2) -> str:
    values = [value(each) for each in of]
    return f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f}\u2013{max(values):,.{digits}f})"
