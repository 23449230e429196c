"""What happened in a minute, by label: what was created, what ended, and how long it ran.

A time of 2^(n/4) ms is counted as n (``_tally.lua``), so that a mean or a percentile is off by 10 % at most, and a
thousand ends of one kind take no more room than one.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

STEPS = 4  # to the doubling of a time, as in _tally.lua


@dataclass(slots=True)
class Count:
    """What happened to the tasks of one label.  ``took``: how many runs took 2^(n/4) ms, by n."""

    created: int = 0
    ended: Counter[str] = field(default_factory=Counter)
    took: Counter[int] = field(default_factory=Counter)

    def add(self, other: "Count") -> None:
        """Adds what happened at another time, or to another label."""
        self.created += other.created
        self.ended += other.ended
        self.took += other.took

    @property
    def mean(self) -> float | None:
        """The mean run time in ms; None if nothing ran."""
        runs = self.took.total()
        return sum(to_ms(step) * count for step, count in self.took.items()) / runs if runs else None

    def percentile(self, share: float) -> float | None:
        """The time in ms that ``share`` (0 to 1) of the runs did not exceed; None if nothing ran."""
        rest = share * self.took.total()
        for step, count in sorted(self.took.items()):
            rest -= count
            if rest <= 0:
                return to_ms(step)
        return None


@dataclass(frozen=True, slots=True)
class Tally:
    """One minute, from ``begins`` in ms."""

    begins: int
    counts: Mapping[str, Count]


def to_ms(step: int) -> float:
    """The time that was counted as ``step``."""
    return float(2 ** (step / STEPS))


def to_tally(begins: int, fields: Mapping[bytes, bytes]) -> Tally:
    """The hash of a minute: ``<label> created``, ``<label> <how it ended> <step, or - of what never ran>``."""
    counts: dict[str, Count] = {}
    for name, value in fields.items():
        head, _, last = name.decode(errors="replace").rpartition(" ")
        number = int(value)
        if last == "created":
            counts.setdefault(head, Count()).created += number
            continue
        label, _, end = head.rpartition(" ")
        count = counts.setdefault(label, Count())
        count.ended[end] += number
        if last != "-":
            count.took[int(last)] += number
    return Tally(begins, counts)


def sum_up(tallies: Iterable[Tally]) -> dict[str, Count]:
    """What happened over several minutes, by label."""
    totals: dict[str, Count] = {}
    for tally in tallies:
        for label, count in tally.counts.items():
            totals.setdefault(label, Count()).add(count)
    return totals
