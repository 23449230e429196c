"""``python -m tests.bench.growth``: what an operation costs in a store with ever more tasks, principals and streams.

The second half of P10.  A server with one API process and one worker; the store is filled by the scripts that
they use.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import uvloop
from redis.asyncio import Redis

from ops.bench.load import gather
from ops.bench.load import measure as act_for
from ops.bench.requestor import Requestor, Target
from receiver.node import LEASE_MS
from receiver.store.keys import Keys
from tests.bench.comparing import used_by
from tests.bench.crowd import Crowd
from tests.bench.drawing import draw
from tests.bench.row import Plan, Row
from tests.bench.subject import Subject, run_receiver
from tests.processes import ROOT
from tests.scale.deployment import raise_file_limit
from tests.scale.filling import SHELF, Filler, read_record

SIZES = (1_000, 10_000, 100_000, 300_000, 1_000_000)
TASKS_OF_A_PRINCIPAL = 10
TASKS_FOR_A_STREAM = 100
SHARES = {"completed": 0.93, "failed": 0.05, "cancelled": 0.02}
REQUESTORS = 16
ROUNDS = 3
ROLES = ("api", "worker", "redis")
LOADER, LISTENER = "loader", "listener"
RENEWAL_SECONDS = LEASE_MS / 3000  # in which a server does all that it does for streams on which nothing is said
GOAL = 1.1  # what "constant" means: two runs of the same differ by half of it
PICTURES = ROOT / "docs" / "images"


async def _list(requestor: Requestor) -> None:
    await requestor.ask("tasks/list", {})


async def _cancel(requestor: Requestor) -> None:
    task_id = await requestor.create()
    await requestor.ask("tasks/cancel", {"taskId": task_id.decode()})


# Those for which the worker is stopped come last: it runs what they leave.
OPERATIONS: dict[str, Callable[[Requestor], Awaitable[object]]] = {
    "tasks/get": Requestor.get,
    "tasks/list": _list,
    "end to end": Requestor.run,
    "create": Requestor.create,
    "create and cancel": _cancel,
}
WITHOUT_WORKER = ("create", "create and cancel")


@dataclass
class Cost:
    """Of one operation: microseconds of CPU by role beyond what is used at rest, and the median latency in ms."""

    cpu: dict[str, float]
    latency: float

    @property
    def total(self) -> float:
        """Microseconds of all roles."""
        return sum(self.cpu.values())


@dataclass
class Stage:
    """A store of one size.  ``rest``: the share of a core that each role uses when nobody asks for anything."""

    tasks: int
    principals: int
    streams: int
    memory: int = 0
    rest: dict[str, float] = field(default_factory=dict)
    costs: dict[str, Cost] = field(default_factory=dict)


def measure(plan: Plan, into: Path | None = None) -> list[Row]:
    """How the costs grow; ``into``: the folder that gets the figures and their picture."""
    raise_file_limit()
    tokens = {token: {"subject": token} for token in (LOADER, LISTENER)}
    with run_receiver(plan.folder / "growth", auth_tokens=tokens) as subject:
        stages = uvloop.run(_Growth(subject, plan).run())
    if into is not None:
        publish(stages, into)
    return _rows(stages)


def publish(stages: Sequence[Stage], folder: Path) -> None:
    """Writes ``growth.json`` and ``growth.svg``."""
    found = [asdict(stage) for stage in stages]
    (folder / "growth.json").write_text(json.dumps(found, indent=1) + "\n")
    draw(found, folder / "growth.svg")


class _Growth:
    def __init__(self, subject: Subject, plan: Plan) -> None:
        self._subject = subject
        self._plan = plan
        self._keys = Keys()
        self._worker = subject.processes["worker"][0]
        self._renewal = RENEWAL_SECONDS if plan.seconds >= 1 else plan.seconds
        self._target = replace(subject.targets[0], token=LOADER)

    async def run(self) -> list[Stage]:
        """Every size in turn."""
        stages = []
        url = self._target.url.removesuffix("/mcp")
        async with Redis.from_url(self._subject.redis_url) as redis, Crowd(url, LISTENER) as crowd:
            sample = await self._sample(redis, self._target)
            there = 0
            for size in [*(size for size in SIZES if size < self._plan.most), self._plan.most]:
                stage = Stage(size, max(1, size // TASKS_OF_A_PRINCIPAL), max(1, size // TASKS_FOR_A_STREAM))
                self._plan.told(f"filling the store: {size} tasks, {stage.streams} streams")
                owners = [sample["owner"], *(f"{number:032x}" for number in range(1, stage.principals))]
                await Filler(redis, sample | {"queue": SHELF}, owners, shares=SHARES).fill(size - there)
                await crowd.grow(stage.streams, self._renewal)
                there = size
                await self._measure(redis, stage)
                stages.append(stage)
        return stages

    async def _sample(self, redis: Redis, target: Target) -> dict[str, str]:
        requestor = await Requestor.open(target)
        task_id = await requestor.create()
        await requestor.wait()
        requestor.close()
        return await read_record(redis, task_id.decode())

    async def _measure(self, redis: Redis, stage: Stage) -> None:
        stage.memory = (await redis.info("memory"))["used_memory"]
        costs: dict[str, list[Cost]] = {name: [] for name in OPERATIONS}
        async with gather([self._target], REQUESTORS) as requestors:
            for requestor in requestors:
                await requestor.run()
            stage.rest = await self._rest()
            for number in range(min(ROUNDS, self._plan.rounds)):
                for name in OPERATIONS:
                    self._plan.told(f"{stage.tasks} tasks: {name}, round {number + 1}")
                    costs[name].append(await self._measure_one(redis, name, requestors, stage.rest))
        stage.costs = {name: _middle(found) for name, found in costs.items()}

    async def _measure_one(
        self, redis: Redis, name: str, requestors: Sequence[Requestor], rest: dict[str, float]
    ) -> Cost:
        if name in WITHOUT_WORKER:
            self._worker.pause()
        try:
            used = used_by(self._subject)
            sample = await act_for(requestors, OPERATIONS[name], self._plan.seconds)
            now, count = used_by(self._subject), len(sample.latencies)
        finally:
            self._worker.resume()
        await self._drain(redis)
        spent = {role: now[role] - used[role] - rest[role] * sample.seconds for role in ROLES}
        if name in WITHOUT_WORKER:
            spent["worker"] = 0.0
        cpu = {role: 1e6 * max(0.0, seconds) / count for role, seconds in spent.items()}
        return Cost(cpu, 1000 * sample.latency(0.5))

    async def _rest(self) -> dict[str, float]:
        """What is used while nothing happens, but that each stream is renewed once."""
        used, begun = used_by(self._subject), time.perf_counter()
        await asyncio.sleep(self._renewal)
        took = time.perf_counter() - begun
        return {role: (now - used[role]) / took for role, now in used_by(self._subject).items()}

    async def _drain(self, redis: Redis) -> None:
        """Returns when the worker has run all that waits for it."""
        keys = (self._keys.queue("default"), self._keys.leases())
        while any([await redis.zcard(key) for key in keys]):  # noqa: ASYNC110 - the worker sees to it
            await asyncio.sleep(0.05)


def _middle(costs: Sequence[Cost]) -> Cost:
    cpu = {role: statistics.median(cost.cpu[role] for cost in costs) for role in ROLES}
    return Cost(cpu, statistics.median(cost.latency for cost in costs))


def _rows(stages: Sequence[Stage]) -> list[Row]:
    first, last = stages[0], stages[-1]
    rows = []
    for name in OPERATIONS:
        ratio = last.costs[name].total / first.costs[name].total
        steps = " → ".join(f"{stage.costs[name].total:.0f}" for stage in stages)
        what = f"CPU of {name} with {last.tasks:,} stored tasks, of that with {first.tasks:,}"
        rows.append(Row("P10", what, f"{ratio:.2f} ({steps} µs)", f"constant: ≤ {GOAL} x", ratio <= GOAL))
    return rows


def main() -> int:
    """Measures, prints, and writes the figures and their picture."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.growth", description=__doc__)
    parser.add_argument("--most", type=int, default=Plan.most, help="tasks in the largest store")
    parser.add_argument("--seconds", type=float, default=Plan.seconds, help="of each round")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--into", type=Path, default=PICTURES, help="the folder for growth.json and growth.svg")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="growth-") as folder:
        plan = Plan(Path(folder), given.seconds, given.rounds, given.most, lambda text: print(text, file=sys.stderr))
        for row in measure(plan, given.into):
            print(f"{row.what}: {row.measured}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
