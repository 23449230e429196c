"""Loads: what requestors do for a while, each one thing after the other, and how long each thing took."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from operator import methodcaller

from ops.bench.requestor import Requestor, Target


class Uncounted(Exception):
    """What an act raises that is no part of the sample."""


@dataclass(frozen=True)
class Sample:
    """What was measured in one go: how long it took as a whole, and each operation in it, in seconds."""

    seconds: float
    latencies: Sequence[float]

    @property
    def rate(self) -> float:
        """Operations a second."""
        return len(self.latencies) / self.seconds

    def latency(self, share: float) -> float:
        """Within how many seconds this share of the operations was over."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


# By name, since a requestor of another kind has methods of its own.
LOADS: dict[str, Callable[[Requestor], Awaitable[object]]] = {
    name: methodcaller(name) for name in ("create", "get", "run")
}


@asynccontextmanager
async def gather(
    targets: Sequence[Target], count: int, open: Callable[[Target], Awaitable[Requestor]] = Requestor.open
) -> AsyncIterator[list[Requestor]]:
    """So many requestors, spread over the targets."""
    requestors: list[Requestor] = []
    try:
        for number in range(count):
            requestors.append(await open(targets[number % len(targets)]))
        yield requestors
    finally:
        for requestor in requestors:
            requestor.close()


async def measure(
    requestors: Sequence[Requestor], act: Callable[[Requestor], Awaitable[object]], seconds: float
) -> Sample:
    """All do the same again and again; who has begun when the time is over ends it, and is counted."""
    latencies: list[float] = []
    began = time.perf_counter()

    async def go_on(requestor: Requestor) -> None:
        now = time.perf_counter()
        while now - began < seconds:
            try:
                await act(requestor)
            except Uncounted:
                now = time.perf_counter()
                continue
            now, before = time.perf_counter(), now
            latencies.append(now - before)

    async with asyncio.TaskGroup() as group:
        for requestor in requestors:
            group.create_task(go_on(requestor))
    return Sample(time.perf_counter() - began, latencies)
