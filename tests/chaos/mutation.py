"""Proves the rig: ``python -m tests.chaos.mutation --runs 10`` seeds each bug in turn, and counts what is caught.

``none`` is a name too: no bug, to count false alarms.
"""

import argparse
import asyncio
import shutil
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.chaos.bugs import BUGS, SOUND
from tests.chaos.campaign import Campaign, run

LEASE_SECONDS = 1.5
QUIET_SECONDS = 4.0  # once to see the tasks to their end, and once for the store
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
        plain=bug.plain,
        failpoints=bug.failpoints,
        pause=bug.pause,
        quiet_seconds=QUIET_SECONDS,
    )


def find_broken(name: str, seed: int) -> set[str]:
    """The invariants that one run with a bug found broken."""
    folder = Path(tempfile.mkdtemp(prefix=f"chaos-{name}-"))
    report = asyncio.run(run(campaign_for(name, seed), folder))
    broken = {line.partition(":")[0] for line in report.violations}
    if is_caught(name, broken) == (name in BUGS):
        shutil.rmtree(folder)
    else:
        print(f"{name}, seed {seed}: look into {folder}", *report.violations[:5], sep="\n  ", file=sys.stderr)
    return broken


def is_caught(name: str, broken: set[str]) -> bool:
    """Whether an invariant was found broken that the bug breaks; any of them counts for ``none``."""
    return not broken.isdisjoint(BUGS[name].breaks if name in BUGS else broken)


def row_of(name: str, runs: list[set[str]]) -> str:
    """A row of the table: the bug, how often it broke what it should break, and in how many runs each invariant."""
    by = Counter(invariant for broken in runs for invariant in broken)
    invariants = ", ".join(f"{invariant} {count}" for invariant, count in by.most_common(4))
    caught = sum(is_caught(name, broken) for broken in runs)
    return f"| `{name}` | {BUGS.get(name, SOUND).what} | {caught} of {len(runs)} | {invariants} |"


def main() -> int:
    """Prints the table as it stands in docs/reliability.md."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.mutation", description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="runs side by side")
    parser.add_argument("names", nargs="*", default=[*sorted(BUGS), "none"])
    given = parser.parse_args()
    with ProcessPoolExecutor(given.jobs) as pool:
        seeds = range(given.seed, given.seed + given.runs)
        runs = {name: [pool.submit(find_broken, name, seed) for seed in seeds] for name in given.names}
        for name, found in runs.items():
            print(row_of(name, [each.result() for each in found]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
