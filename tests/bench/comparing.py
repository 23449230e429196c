"""Subjects side by side: a round of each, again and again, so that what the machine does meanwhile hits all of them."""

import asyncio
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import uvloop

from ops.bench.load import LOADS, Sample, gather, measure
from tests.bench.subject import Subject
from tests.scale.figures import seconds_of

WARM_SECONDS = 0.5


@dataclass
class Figures:
    """Of one subject under one load: a value for each round.

    ``cpu``: microseconds of each role's processes for an operation; ``commands``: those that Redis carried out for an
    operation, with those in scripts, and ``flights``: the scripts that it was sent.
    """

    samples: list[Sample] = field(default_factory=list)
    cpu: list[dict[str, float]] = field(default_factory=list)
    commands: list[float] = field(default_factory=list)
    flights: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """The median of operations a second."""
        return statistics.median(sample.rate for sample in self.samples)

    @property
    def spread(self) -> tuple[float, float]:
        """The slowest and the fastest round, in operations a second."""
        rates = [sample.rate for sample in self.samples]
        return min(rates), max(rates)

    def latency(self, share: float) -> float:
        """The median of what this share of the operations stays below, in ms."""
        return 1000 * statistics.median(sample.latency(share) for sample in self.samples)

    def cpu_of(self, *roles: str) -> float:
        """The median of what the processes of these roles used for an operation, in microseconds."""
        return statistics.median(sum(used.get(role, 0) for role in roles) for used in self.cpu)


def compare(
    subjects: Sequence[Subject],
    load: str,
    *,
    requestors: int,
    seconds: float,
    rounds: int,
    told: Callable[[str], object] = lambda _: None,
    patience: float | None = None,
) -> dict[str, Figures]:
    """The figures of each subject under a load, by name. TimeoutError after ``patience`` seconds of one round."""
    found = {subject.name: Figures() for subject in subjects}
    for number in range(rounds):
        for subject in subjects:
            told(f"{load} at {requestors}: {subject.name}, round {number + 1} of {rounds}")
            _run_round(subject, load, requestors, seconds, found[subject.name], patience)
    return found


def _run_round(
    subject: Subject, load: str, requestors: int, seconds: float, figures: Figures, patience: float | None
) -> None:
    async def run() -> None:
        act = LOADS[load]
        async with asyncio.timeout(patience), gather(subject.targets, requestors, subject.open) as found:
            if load == "get":
                for requestor in found:
                    await requestor.create()
            await measure(found, act, min(WARM_SECONDS, seconds))
            used, counted = used_by(subject), _count(subject)
            sample = await measure(found, act, seconds)
            count = len(sample.latencies)
            figures.samples.append(sample)
            figures.cpu.append({role: 1e6 * (now - used[role]) / count for role, now in used_by(subject).items()})
            commands, flights = (now - before for now, before in zip(_count(subject), counted, strict=True))
            figures.commands.append(commands / count)
            figures.flights.append(flights / count)

    uvloop.run(run())


def used_by(subject: Subject) -> dict[str, float]:
    """The CPU seconds that the processes of each role have used so far."""
    return {role: sum(seconds_of(child.pid) for child in of) for role, of in subject.processes.items()}


def _count(subject: Subject) -> tuple[int, int]:
    """Commands and scripts so far."""
    if subject.redis is None:
        return 0, 0
    stats: dict[str, dict[str, int]] = subject.redis.info("commandstats")  # type: ignore[assignment] # not awaitable
    calls = {name.removeprefix("cmdstat_"): stat["calls"] for name, stat in stats.items()}
    return sum(calls.values()), calls.get("evalsha", 0)
