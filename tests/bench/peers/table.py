"""The table of what was measured: for a terminal, and for a page."""

import statistics
from collections.abc import Sequence

from rich.table import Table

from tests.bench.peers.roster import Contestant
from tests.bench.peers.rounds import CREATE, GET, RUN, RUN_ALONE, RUN_MANY, Cell, Cells, Load

COLUMNS = (CREATE, GET, RUN, RUN_MANY, RUN_ALONE)
TITLES = ("server", "wire", *(load.title for load in COLUMNS))
RATIO = "this server is … times as fast"
DASH = "\N{EN DASH}"


def make_rows(contestants: Sequence[Contestant], cells: Cells) -> list[list[str]]:
    """Two rows for each contestant but the first one, which the others are compared with."""
    own = contestants[0]
    rows = []
    for contestant in contestants:
        found = [(load, cells[contestant, load]) for load in COLUMNS]
        rows.append([contestant.title, contestant.wire, *(show(cell, load) for load, cell in found)])
        if contestant is not own:
            rows.append([RATIO, "", *(_compare(cells[own, load], cell, load) for load, cell in found)])
    return rows


def show(cell: Cell, load: Load) -> str:
    """The median, of rates with the least and the most; where all failed, what happened."""
    best = cell.best(load)
    if best is None:
        return next(iter(cell.failures.values()), "not measured")
    values = best[1]
    if load.by_latency:
        return f"{statistics.median(values):.1f}"
    return f"{statistics.median(values):,.0f} ({min(values):,.0f}{DASH}{max(values):,.0f})"


def _compare(own: Cell, other: Cell, load: Load) -> str:
    mine, theirs = own.median(load), other.median(load)
    if mine is None or theirs is None:
        return DASH
    ratio = theirs / mine if load.by_latency else mine / theirs
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def tell_ways(contestants: Sequence[Contestant], cells: Cells) -> list[str]:
    """A line for each contestant that was asked in several ways: which of them its figures are of."""
    lines = []
    for contestant in contestants:
        if len(contestant.ways) == 1:
            continue
        waits = {load: cells[contestant, load].best(load) for load in COLUMNS if load.what == "run"}
        told = [f"{best[0]} for {load.title.partition(',')[0]}" for load, best in waits.items() if best]
        lines.append(f"{contestant.title}, the best of {len(contestant.ways)} ways to wait: {', '.join(told)}.")
    return lines


def render_markdown(rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [TITLES, ["---", "---", *("---:" for _ in COLUMNS)], *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def render_terminal(rows: Sequence[Sequence[str]]) -> Table:
    """A table for a terminal, with a line between contestants."""
    table = Table()
    for number, title in enumerate(TITLES):
        table.add_column(title, justify="left" if number < 2 else "right", overflow="fold")
    for number, row in enumerate(rows):
        table.add_row(*row, end_section=number + 1 == len(rows) or rows[number + 1][0] != RATIO)
    return table
