"""Proves the rig: ``python -m tests.chaos.mutation --runs 10`` seeds each bug in turn, and counts what is caught.

``none`` is a name too: no bug, to count false alarms.
"""

import argparse
import asyncio
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.chaos.bugs import BUGS, SOUND
from tests.chaos.campaign import Campaign, run

LEASE_SECONDS = 1.5
QUIET_SECONDS = 8.0
RATE = 12.0


def campaign_for(name: str, seed: int) -> Campaign:
    """A campaign with a bug: short, and with what provokes it."""
    bug = BUGS.get(name, SOUND)
    return Campaign(
        seed,
        bug.seconds,
        name if name in BUGS else "",
        lease=LEASE_SECONDS,
        rate=RATE,
        cancels=bug.cancels,
        faults=bug.faults,
        tools=bug.tools,
        failpoints=bug.failpoints,
        pause=bug.pause,
        quiet_seconds=QUIET_SECONDS,
    )


def try_bug(name: str, runs: int, first_seed: int) -> str:
    """A row of the table: the bug, how often it broke what it should break, and in how many runs each invariant."""
    bug = BUGS.get(name, SOUND)
    caught, by = 0, Counter[str]()
    for seed in range(first_seed, first_seed + runs):
        folder = Path(tempfile.mkdtemp(prefix=f"chaos-{name}-"))
        report = asyncio.run(run(campaign_for(name, seed), folder))
        broken = {line.partition(":")[0] for line in report.violations}
        caught += not broken.isdisjoint(bug.breaks or broken)
        by.update(broken)
        shutil.rmtree(folder)
    invariants = ", ".join(f"{invariant} {count}" for invariant, count in by.most_common(4))
    return f"| `{name}` | {bug.what} | {caught} of {runs} | {invariants} |"


def main() -> int:
    """Prints the table as it stands in docs/reliability.md."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.mutation", description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("names", nargs="*", default=[*sorted(BUGS), "none"])
    given = parser.parse_args()
    for name in given.names:
        print(try_bug(name, given.runs, given.seed), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
