"""Rounds with servers that work, that can't be reached, and that never answer."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ops.bench.requestor import Requestor, Target
from tests.bench.peers.roster import Contestant
from tests.bench.peers.rounds import LOADS, RUN, run_rounds
from tests.bench.peers.wire import Poller, poll_every
from tests.bench.subject import ARGUMENTS, TOOL, Subject, run_floor
from tests.processes import HOST, find_free_port


@contextmanager
def run_nothing(_: Path) -> Iterator[Subject]:
    yield make_subject(find_free_port())


@contextmanager
def run_silent(_: Path) -> Iterator[Subject]:
    with socket.create_server((HOST, 0)) as listener:
        yield make_subject(listener.getsockname()[1])


@contextmanager
def run_broken(_: Path) -> Iterator[Subject]:
    raise AssertionError("it does not start\nsince it is broken")
    yield


def make_subject(port: int) -> Subject:
    return Subject("peer", [Target(f"http://{HOST}:{port}/mcp", TOOL, ARGUMENTS)], {})


def test_a_server_that_fails_stops_no_other() -> None:
    ways = {"": Requestor.open}
    works, nothing, silent, broken = (
        Contestant(run.__name__, "2025-11-25", run, ways) for run in (run_floor, run_nothing, run_silent, run_broken)
    )
    contestants = [nothing, silent, broken, works]
    cells = run_rounds(contestants, rounds=2, seconds=0.1, told=lambda _: None, patience=0.5)
    assert all("can't be reached" in cells[nothing, load].failures[""] for load in LOADS)
    assert all(cells[silent, load].failures[""] == "hangs" for load in LOADS)
    assert all(cells[broken, load].failures[""] == "fails: it does not start" for load in LOADS)
    assert all(len(cells[works, load].values[""]) == 2 and not cells[works, load].failures for load in LOADS)


def test_every_way_to_wait_is_tried_where_there_is_something_to_wait_for() -> None:
    ways = {"often": poll_every(0.001, Poller), "sometimes": poll_every(0.01, Poller)}
    silent = Contestant("silent", "2025-11-25", run_silent, ways)
    cells = run_rounds([silent], rounds=1, seconds=0.1, told=lambda _: None, patience=0.1)
    assert {load: list(cells[silent, load].failures) for load in LOADS} == {
        load: list(ways) if load.what == RUN.what else ["often"] for load in LOADS
    }
