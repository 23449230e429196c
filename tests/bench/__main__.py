"""``python -m tests.bench``: what this server can do, beside what its stack can, in one run; P1 to P10 and goals."""

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.bench import growth, loads, machine, pages, pairs, storage, waiters, work
from tests.bench.page import PAGE, write_between
from tests.bench.quiet import Quiet, begin_round
from tests.bench.row import Plan, Row
from tests.processes import ROOT

PACKAGES = ("mcp-task-receiver", "uvicorn", "uvloop", "httptools", "redis", "hiredis", "orjson", "pydantic", "arq")
PICTURES = ROOT / "docs" / "images"
Measure = Callable[[Plan], Sequence[Row]]


def main() -> int:
    """Measures, prints the table, and writes it to its page."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("numbers", nargs="*", metavar="P1", help="what to measure; all without")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--most", type=int, default=1_000_000, help="tasks in the largest store")
    parser.add_argument("--no-page", action="store_true", help=f"leave {PAGE.name} as it is")
    given = parser.parse_args()
    wanted = {number.upper() for number in given.numbers}
    is_wanted = partial(_is_wanted, wanted)
    rows: list[Row] = []
    quiet = Quiet()
    with tempfile.TemporaryDirectory(prefix="bench-") as path:
        plan = Plan(Path(path), given.seconds, given.rounds, given.most, partial(begin_round, quiet))
        for numbers, measure in _measures(is_wanted, None if given.no_page else PICTURES):
            if any(map(is_wanted, numbers)):
                rows += [row for row in measure(plan) if is_wanted(row.number)]
    rows.sort(key=lambda row: int(row.number[1:]))
    notes = _describe(given.rounds, given.seconds, quiet)
    console = Console(width=None if sys.stdout.isatty() else 200)
    console.print(_render_terminal(rows), *notes, sep="\n", highlight=False, soft_wrap=True)
    if not given.no_page and not wanted:  # a page is of one run
        write_between("goals", "\n".join([_render_markdown(rows), "", *(f"- {note}" for note in notes)]))
    return 0


def _measures(is_wanted: Callable[[str], bool], pictures: Path | None) -> list[tuple[Sequence[str], Measure]]:
    return [
        (("P1", "P2", "P3", "P4"), partial(loads.measure, numbers=is_wanted)),
        (("P7", "P8"), work.measure),
        (("P9",), storage.measure),
        (("P10",), pairs.measure),
        (("P5",), waiters.measure),
        (("P6",), pages.measure),
        (("P10",), partial(growth.measure, into=pictures)),
    ]


def _is_wanted(wanted: set[str], number: str) -> bool:
    return not wanted or number in wanted


def _describe(rounds: int, seconds: float, quiet: Quiet) -> list[str]:
    return [
        f"{datetime.now(UTC):%Y-%m-%d}, {rounds} rounds of {seconds:g} s, what is compared in turns; medians, and in "
        "parentheses the slowest and the fastest round.",
        quiet.describe(),
        f"{machine.describe()}; client, servers and Redis share it.",
        f"{machine.describe_programs()}; Redis writes nothing to disk.",
        f"{', '.join(f'{name} {version(name)}' for name in PACKAGES)}.",
    ]


def _render_markdown(rows: Sequence[Row]) -> str:
    lines = ["| | what | measured | goal | met |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*lines, *(f"| {' | '.join(_cells(row))} |" for row in rows)])


def _render_terminal(rows: Sequence[Row]) -> Table:
    table = Table("", "what", "measured", "goal", "met")
    for row in rows:
        table.add_row(*_cells(row), style="red" if row.is_met is False else "")
    return table


def _cells(row: Row) -> tuple[str, str, str, str, str]:
    met = "" if row.is_met is None else "yes" if row.is_met else "**no**"
    return row.number, row.what, row.measured, row.goal, met


if __name__ == "__main__":
    sys.exit(main())
