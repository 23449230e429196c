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
    middle, late = values[len(values) // 2], values[min(len(values) - 1, len(values) * 99 // 100)]
    return f"p50 {middle:.0f} ms, p99 {late:.0f} ms, max {values[-1]:.0f} ms, of {len(values)}"


def memory_of(pid: int) -> int:
    """The resident memory of a process, in KiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def seconds_of(pid: int) -> float:
    """The CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS
