"""``python -m tests.bench.peers``: other task servers, this one and the floor under the same load, in one run."""

import argparse
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version

from rich.console import Console

from tests.bench import machine
from tests.bench.page import PAGE, write_between
from tests.bench.peers.installation import NotInstalled, version_of
from tests.bench.peers.roster import Contestant, gather_contestants
from tests.bench.peers.rounds import Cells, run_rounds
from tests.bench.peers.table import make_rows, render_markdown, render_terminal, tell_ways
from tests.bench.quiet import Quiet, begin_round
from tests.scale.deployment import raise_file_limit

PACKAGES = {
    "fastmcp3": ("fastmcp", "pydocket", "mcp", "redis", "uvicorn"),
    "fastmcp4": ("fastmcp-tasks", "pydocket", "mcp", "redis", "uvicorn"),
    "python_sdk": ("mcp", "uvicorn"),
}


def main() -> int:
    """Installs, measures, prints, and writes the table to its page."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.peers", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each round, for each load")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-page", action="store_true", help=f"leave {PAGE.name} as it is")
    given = parser.parse_args()
    raise_file_limit()
    console = Console(width=None if sys.stdout.isatty() else 180)
    told: Callable[[str], None] = lambda what: print(what, file=sys.stderr, flush=True)  # noqa: E731
    try:
        contestants = gather_contestants(told)
    except NotInstalled as error:
        print(f"a peer can't be installed: {error}", file=sys.stderr)
        return 1
    quiet = Quiet()
    cells = run_rounds(contestants, rounds=given.rounds, seconds=given.seconds, told=partial(begin_round, quiet))
    rows = make_rows(contestants, cells)
    notes = [*describe(contestants, cells, given.rounds, given.seconds), quiet.describe()]
    console.print(render_terminal(rows), *notes, sep="\n", highlight=False, soft_wrap=True)
    if not given.no_page:
        write_between("peers", "\n".join([render_markdown(rows), "", *(f"- {note}" for note in notes)]))
    return 0


def describe(contestants: Sequence[Contestant], cells: Cells, rounds: int, seconds: float) -> list[str]:
    """What the figures are of, line by line."""
    rounds_told = f"{rounds} rounds of {seconds:g} s a load" if rounds > 1 else f"one round of {seconds:g} s a load"
    return [
        f"{datetime.now(UTC):%Y-%m-%d}, {rounds_told}, in each all servers in turn, started anew; medians, and in "
        "parentheses the slowest and the fastest round.",
        f"{machine.describe()}; client, servers and Redis share it.",
        f"{machine.describe_programs()}; Redis writes nothing to disk.",
        *(f"{name}: {_list_releases(name)}." for name in PACKAGES),
        f"This server: {', '.join(f'{name} {version(name)}' for name in ('mcp-task-receiver', 'redis', 'uvicorn'))}.",
        *tell_ways(contestants, cells),
    ]


def _list_releases(name: str) -> str:
    return ", ".join(f"{package} {version_of(package, name)}" for package in PACKAGES[name])


if __name__ == "__main__":
    sys.exit(main())
