"""P6: a page of ``tasks/list`` of a requestor with a million tasks, against one with a thousand."""

import statistics
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import uvloop
from redis.asyncio import Redis

from ops.bench.load import measure as act_for
from ops.bench.requestor import Requestor, Target
from receiver.protocol.cursor import Cursors, Position
from receiver.store.keys import Keys
from receiver.store.secret import load_secrets
from tests.bench.row import Plan, Row
from tests.bench.subject import run_receiver
from tests.scale.filling import SHELF, Filler, read_record

FEW = 1_000
TOKEN = "lister"
SECONDS = 1.0
GOAL = 1.5
METHOD = "tasks/list"


@dataclass
class Store:
    """One that is filled.  ``cursors``: that of each page which is asked for; ``times``: what it took, in ms."""

    target: Target
    cursors: dict[str, str | None]
    times: dict[str, list[float]] = field(default_factory=dict)

    async def list(self, page: str, seconds: float) -> None:
        """Asks for a page again and again, and keeps the median."""
        cursor = self.cursors[page]
        params = {} if cursor is None else {"cursor": cursor}
        requestor = await Requestor.open(self.target)
        sample = await act_for([requestor], lambda one: one.ask(METHOD, params), seconds)
        requestor.close()
        self.times.setdefault(page, []).append(1000 * sample.latency(0.5))


def measure(plan: Plan) -> list[Row]:
    """The first and the middle page, of many tasks and of few, in turns."""
    few = min(FEW, plan.most // 2)
    with ExitStack() as stack:
        stores = [
            stack.enter_context(run_store(plan.folder / name, count, plan))
            for name, count in (("many", plan.most), ("few", few))
        ]
        many, little = stores
        for number in range(plan.rounds):
            plan.told(f"pages, round {number + 1} of {plan.rounds}")
            for store in stores:
                for page in store.cursors:
                    uvloop.run(store.list(page, min(SECONDS, plan.seconds)))
        return [_compare(page, many.times[page], little.times[page], plan.most, few) for page in many.cursors]


@contextmanager
def run_store(folder: Path, count: int, plan: Plan) -> Iterator[Store]:
    """A server whose one requestor has so many tasks, most of them over."""
    plan.told(f"filling a store with {count} tasks")
    with run_receiver(folder, workers=0, auth_tokens={TOKEN: {"subject": TOKEN}}) as subject:
        target = replace(subject.targets[0], token=TOKEN)
        cursor = uvloop.run(_fill(subject.redis_url, target, count))
        yield Store(target, {"first": None, "middle": cursor})


async def _fill(url: str, target: Target, count: int) -> str:
    """Fills a store; returns the cursor of the page in the middle."""
    async with Redis.from_url(url) as redis:
        keys, requestor = Keys(), await Requestor.open(target)
        sample = await read_record(redis, (await requestor.create()).decode())
        requestor.close()
        owner = sample["owner"]
        await Filler(redis, sample | {"queue": SHELF}, [owner]).fill(count)
        ((id, created_at),) = await redis.zrange(keys.owner(owner), count // 2, count // 2, withscores=True)
        position = Position(int(created_at), id.decode())
        return Cursors(await load_secrets(redis, keys, ())).encode(METHOD, owner, position.to_text())


def _compare(page: str, many: list[float], few: list[float], most: int, least: int) -> Row:
    ratio = statistics.median(many) / statistics.median(few)
    measured = f"{ratio:.2f} ({_show(many)} against {_show(few)})"
    what = f"the {page} page of tasks/list with {most:,} tasks, of the time with {least:,}"
    return Row("P6", what, measured, f"≤ {GOAL} x", ratio <= GOAL)


def _show(times: list[float]) -> str:
    return f"{statistics.median(times):.2f} ms, {min(times):.2f}–{max(times):.2f}"  # noqa: RUF001 - a span
