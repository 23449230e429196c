"""``python -m tests.scale blocked --count 10000``: what happens when there is much of everything."""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

from tests.scale import blocked, million, overload, stopping, waiting
from tests.scale.deployment import raise_file_limit


class Report(Protocol):
    """What was found, line by line."""

    lines: list[str]


MEASURES: dict[str, tuple[int, Callable[[Path, int], Awaitable[Report]]]] = {
    "blocked": (10_000, blocked.measure),
    "million": (1_000_000, million.measure),
    "waiting": (2_000, lambda folder, count: waiting.measure(folder, count, "memory")),
    "parked": (2_000, lambda folder, count: waiting.measure(folder, count, "parked")),
    "stopping": (1_000, stopping.measure),
    "flood": (10_000, overload.flood),
    "refused": (100_000, overload.refuse),
}


def main() -> int:
    """Measures, one after the other, what is named, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.scale", description=__doc__)
    parser.add_argument("measure", nargs="*", help=", ".join(MEASURES))
    parser.add_argument("--count", type=int, help="how many of what there is much of")
    given = parser.parse_args()
    if unknown := set(given.measure) - set(MEASURES):
        parser.error(f"there is no {', '.join(unknown)}")
    raise_file_limit()
    for name in given.measure or MEASURES:
        print(f"{name}:", flush=True)
        print(*(f"  {line}" for line in asyncio.run(run(name, given.count)).lines), sep="\n", flush=True)
    return 0


async def run(name: str, count: int | None) -> Report:
    """One measurement, in a folder of its own."""
    usual, measure = MEASURES[name]
    with tempfile.TemporaryDirectory(prefix="scale-") as folder:
        return await measure(Path(folder), usual if count is None else count)


if __name__ == "__main__":
    sys.exit(main())
