"""What was measured, and how a process stood."""

import os
from collections.abc import Iterable
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def spread(seconds: Iterable[float]) -> str:
    """Median, 99th percentile and maximum, in ms."""
    values = sorted(1000 * value for value in seconds)
    if not values:
        return "nothing measured"
    middle, late = quantile(values, 0.5), quantile(values, 0.99)
    return f"p50 {middle:.0f} ms, p99 {late:.0f} ms, max {values[-1]:.0f} ms, of {len(values)}"


def quantile(values: Iterable[float], share: float) -> float:
    """What this share of the values stays below; 0 if there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def memory_of(pid: int) -> int:
    """The resident memory of a process, in KiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def seconds_of(pid: int) -> float:
    """The CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS
