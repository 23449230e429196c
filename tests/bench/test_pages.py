"""The measurement works, with fewer tasks."""

from pathlib import Path

import pytest

from tests.bench.pages import measure
from tests.bench.row import Plan


@pytest.mark.timeout(120)
def test_pages_are_compared(tmp_path: Path) -> None:
    rows = measure(Plan(tmp_path, seconds=0.2, rounds=1, most=2_000))
    assert [(row.number, row.what.split()[1]) for row in rows] == [("P6", "first"), ("P6", "middle")]
    assert all(float(row.measured.split()[0]) > 0 for row in rows), rows
