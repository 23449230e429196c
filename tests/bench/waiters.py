"""P5: ten thousand ``tasks/result`` blocked in one API process, and all their outcomes at once."""

import asyncio
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from redis.asyncio import Redis

from tests.bench.row import Plan, Row
from tests.scale.blocked import Blocked, block
from tests.scale.bystander import Bystander
from tests.scale.deployment import ALICE, BOB, deploy, raise_file_limit
from tests.scale.figures import memory_of, quantile
from tests.scale.filling import HOUR, SHELF, Filler, read_record
from tests.scale.wire import Line, begin, create

WAITERS = 10_000
TOOL = "timed"
ROUNDS = 3  # each needs a fresh process, for its memory
SETTLE_SECONDS = 1.0
KIB, ANSWERED_SECONDS, P99_MS = 25.0, 3.0, 20.0


@dataclass
class Round:
    """``kib``: resident memory of the node for each waiter; ``failed``: what became of those who got no result.

    The rest in seconds: from outcomes to their answers, and what the bystander's requests took.
    """

    kib: float
    failed: dict[str, int]
    answers: list[float]
    at_rest: list[float]
    meanwhile: list[float]


def measure(plan: Plan) -> list[Row]:
    """The memory of a waiter, how soon all are answered, and how another client fares."""
    raise_file_limit()
    count = min(WAITERS, plan.most // 10)
    rounds = []
    for number in range(min(ROUNDS, plan.rounds)):
        plan.told(f"{count} waiters, round {number + 1}")
        folder = plan.folder / f"waiters-{number}"
        folder.mkdir()
        rounds.append(asyncio.run(_block(folder, count, max(plan.seconds, SETTLE_SECONDS))))
    failed = [f"{many} x {what}" for one in rounds for what, many in one.failed.items()]
    return [
        _row(f"{count:,} blocked tasks/result: resident memory of each", [one.kib for one in rounds], "KiB", KIB),
        _row(
            f"{count:,} outcomes at once: from an outcome to its answer, the last of all",
            [max(one.answers) for one in rounds],
            "s",
            ANSWERED_SECONDS,
            failed,
        ),
        _row(
            "another client's tasks/get while they are blocked, p99",
            [1000 * quantile(one.at_rest, 0.99) for one in rounds],
            "ms",
            P99_MS,
        ),
        _row(
            "the same while they are answered, p99",
            [1000 * quantile(one.meanwhile, 0.99) for one in rounds],
            "ms",
            P99_MS,
        ),
    ]


async def _block(folder: Path, count: int, seconds: float) -> Round:
    """One round: a node, its waiters, and no worker; outcomes are written as fast as the store takes them."""
    report = Blocked(count)
    async with deploy(folder, workers=0) as deployment, Redis.from_url(deployment.store.url) as redis:
        node = deployment.nodes[0].process
        alice = await begin(node.url, ALICE)
        async with await Line.open(alice) as line:
            sample = await read_record(redis, await create(line, TOOL))
        filler = Filler(redis, sample | {"queue": SHELF}, [sample["owner"]])
        tasks = [id for id, _ in await filler.create(count)]
        runs = await filler.claim(count, "waiters", HOUR)
        with await asyncio.to_thread(Bystander, node.url, BOB, TOOL) as bystander:
            before = memory_of(node.pid)
            waiting = await block(alice, tasks, report)
            kib, opened = (memory_of(node.pid) - before) / count, time.time()
            await asyncio.sleep(seconds)
            at_rest, ending = bystander.since(opened), time.time()
            await filler.complete(runs, _make_payload)
            await asyncio.gather(*waiting)
            meanwhile = bystander.since(ending)
    failed = {what: many for what, many in report.outcomes.items() if what != "answered"}
    return Round(kib, failed, report.delays, at_rest, meanwhile)


def _make_payload() -> str:
    return f'{{"content":[{{"type":"text","text":"over"}}],"structuredContent":{{"ended":{time.time()}}}}}'


def _row(what: str, values: Sequence[float], unit: str, goal: float, failed: Sequence[str] = ()) -> Row:
    middle = statistics.median(values)
    measured = f"{middle:.1f} {unit} ({min(values):.1f}–{max(values):.1f})"  # noqa: RUF001 - a span
    measured = "; not answered: ".join([measured, ", ".join(failed)] if failed else [measured])
    return Row("P5", what, measured, f"≤ {goal:g} {unit}", middle <= goal and not failed)
