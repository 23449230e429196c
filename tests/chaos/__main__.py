"""``python -m tests.chaos --seconds 60 --seed 1``: breaks everything for a while, and says what was lost."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.chaos.bugs import BUGS
from tests.chaos.campaign import Campaign, run
from tests.chaos.mutation import campaign_for
from tests.chaos.nemesis import WEIGHTS


def main() -> int:
    """Returns 1 when there was a violation."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--minutes", type=float, help="instead of seconds")
    parser.add_argument("--rate", type=float, default=15.0, help="tasks a second")
    parser.add_argument("--lease", type=float, default=2.0, help="seconds")
    parser.add_argument("--server", choices=("valkey", "redis"), default="valkey")
    parser.add_argument("--fsync", choices=("always", "everysec"), default="always")
    parser.add_argument("--pause", type=float, default=1.2, help="seconds between faults, on average")
    parser.add_argument("--only", action="append", default=[], choices=sorted(WEIGHTS), help="a kind of fault")
    parser.add_argument("--bug", choices=sorted(BUGS), help="a bug that has to be found")
    parser.add_argument("--folder", type=Path, help="an empty one, for all that the campaign leaves")
    given = parser.parse_args()
    if given.bug:
        campaign = campaign_for(given.bug, given.seed)
    else:
        seconds = given.seconds if given.minutes is None else 60 * given.minutes
        campaign = Campaign(
            given.seed,
            seconds,
            server=given.server,
            fsync=given.fsync,
            lease=given.lease,
            rate=given.rate,
            faults=given.only,
            pause=given.pause,
        )
    folder = given.folder or Path(tempfile.mkdtemp(prefix="chaos-"))
    report = asyncio.run(run(campaign, folder))
    print("\n".join(report.lines()))
    return bool(report.violations)


if __name__ == "__main__":
    sys.exit(main())
