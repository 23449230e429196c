"""What was measured, as cells of the table."""

from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from rich.console import Console

from ops.bench.requestor import Unexpected
from tests.bench.peers.roster import BLOCKING, PAUSES, Contestant, make_polled
from tests.bench.peers.rounds import CREATE, GET, LOADS, RUN, RUN_ALONE, RUN_MANY, Cell, Cells, describe
from tests.bench.peers.table import DASH, RATIO, TITLES, make_rows, render_markdown, render_terminal, show, tell_ways
from tests.bench.peers.wire import Poller
from tests.bench.subject import Subject


def run(_: Path) -> AbstractContextManager[Subject]:
    raise NotImplementedError


OWN = Contestant("own", "2025-11-25", run, BLOCKING)
PEER = Contestant("peer", "2026-07-28", run, make_polled(Poller))
OFTEN, SOMETIMES, _ = make_polled(Poller)


@pytest.fixture
def cells() -> Cells:
    own = {(OWN, load): Cell({"": [2.0] if load.by_latency else [1990.0, 2000.0, 2010.0]}) for load in LOADS}
    peer = {
        (PEER, CREATE): Cell({"": [100.0, 99.0, 101.0]}),
        (PEER, GET): Cell({"": [4000.0]}),
        (PEER, RUN): Cell({OFTEN: [50.0, 60.0, 70.0], SOMETIMES: [10.0, 80.0, 90.0]}),
        (PEER, RUN_MANY): Cell({OFTEN: [50.0]}, dict.fromkeys((OFTEN, SOMETIMES), "hangs")),
        (PEER, RUN_ALONE): Cell({OFTEN: [10.0, 14.0, 12.0], SOMETIMES: [11.0, 13.0, 13.0]}),
    }
    return own | peer


def test_medians_with_their_spread_and_ratios_below(cells: Cells) -> None:
    own, peer, ratios = make_rows([OWN, PEER], cells)
    assert own == ["own", "2025-11-25", *4 * [f"2,000 (1,990{DASH}2,010)"], "2.0"]
    assert peer == [
        "peer",
        "2026-07-28",
        f"100 (99{DASH}101)",
        f"4,000 (4,000{DASH}4,000)",
        f"80 (10{DASH}90)",
        "hangs",
        "12.0",
    ]
    assert ratios == [RATIO, "", "20", "0.50", "25", DASH, "6.00"]


def test_the_way_that_was_best_is_told(cells: Cells) -> None:
    (line,) = tell_ways([OWN, PEER], cells)
    assert f"{SOMETIMES} for end to end/s at 16" in line
    assert f"{OFTEN} for end to end at 1" in line
    assert f"best of {len(PAUSES)} ways" in line


def test_a_way_that_failed_does_not_hide_the_others() -> None:
    cell = Cell({OFTEN: [90.0], SOMETIMES: [50.0]}, {OFTEN: "hangs"})
    assert show(cell, RUN) == f"50 (50{DASH}50)"


def test_nothing_measured_is_told() -> None:
    assert show(Cell(), CREATE) == "not measured"


def test_markdown_has_as_many_cells_in_each_row(cells: Cells) -> None:
    cells[PEER, CREATE].failures[""] = "fails: a | b"
    lines = render_markdown(make_rows([OWN, PEER], cells)).splitlines()
    assert [line.count("|") for line in lines] == 5 * [len(TITLES) + 1]
    assert "| fails: a / b |" in lines[3]


def test_the_terminal_has_every_cell(cells: Cells) -> None:
    console = Console(width=200)
    rows = make_rows([OWN, PEER], cells)
    with console.capture() as said:
        console.print(render_terminal(rows))
    assert all(cell in said.get() for row in rows for cell in row)


def test_failures_in_a_word() -> None:
    assert describe(TimeoutError()) == "hangs"
    assert describe(ExceptionGroup("", [ExceptionGroup("", [Unexpected("no\ntask")]), ValueError()])) == "fails: no"
    assert describe(ConnectionResetError()) == "fails: ConnectionResetError"


def test_what_is_no_failure_of_a_server_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        describe(ExceptionGroup("", [ZeroDivisionError()]))
