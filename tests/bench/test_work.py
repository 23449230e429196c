"""A small plan of the measurement: that it measures, never what it finds of times."""

from pathlib import Path

import pytest

from tests.bench import work
from tests.bench.row import Plan


@pytest.mark.timeout(120)
def test_small_plan_has_its_rows(tmp_path: Path) -> None:
    """What does not depend on the machine holds: how often a worker turns to Redis for a task."""
    rows = {row.what: row for row in work.measure(Plan(tmp_path, seconds=0.3, rounds=1))}
    assert {row.number for row in rows.values()} == {"P7", "P8"}
    assert all(row.measured for row in rows.values())
    assert rows[work.FLIGHTS].is_met
    assert rows[work.IDLE].is_met is not None
