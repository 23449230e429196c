"""Less of everything than ``make scale`` has, and nothing about times: what may not happen at any size."""

from pathlib import Path

import pytest

from tests.scale import blocked, overload, stopping, waiting

WAITERS = 300
STOPPED = 200
ASKED = 50
FLOOD = 100


@pytest.mark.timeout(120)
async def test_all_who_wait_are_answered_through_the_end_of_the_store(tmp_path: Path) -> None:
    """F34: on their open streams; none is told that there is no such task, and no stream is closed."""
    report = await blocked.measure(tmp_path, WAITERS, steady=1, outage=1)
    assert report.outcomes == {"answered": WAITERS}, report.lines


@pytest.mark.timeout(120)
async def test_a_node_with_many_waiters_stops_in_time_and_they_go_on_elsewhere(tmp_path: Path) -> None:
    """F46: ``terminate`` has a limit of its own, and fails where it is exceeded."""
    report = await stopping.measure(tmp_path, STOPPED)
    assert (report.code, report.ends) == (0, {"answered": STOPPED}), report.lines


@pytest.mark.timeout(120)
@pytest.mark.parametrize("where", waiting.TOOLS)
async def test_tasks_that_wait_hold_no_slot(tmp_path: Path, where: str) -> None:
    """More of them than there are slots; others run meanwhile, and all go on when they are answered."""
    report = await waiting.measure(tmp_path, ASKED, where)
    assert len(report.resumed) == ASKED, report.lines


@pytest.mark.timeout(120)
async def test_a_full_queue_is_a_refusal_and_delays_no_one_else(tmp_path: Path) -> None:
    """F22: the tasks of another are started while those that wait are still there, and so are plain calls."""
    report = await overload.flood(tmp_path, FLOOD)
    assert (len(report.tasks), len(report.calls)) == (overload.TRIES, overload.TRIES)
    assert "queue_full" in report.refusal
