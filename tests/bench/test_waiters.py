"""The measurement works, with fewer waiters."""

from pathlib import Path

import pytest

from tests.bench.row import Plan
from tests.bench.waiters import measure


@pytest.mark.timeout(120)
def test_all_waiters_are_answered(tmp_path: Path) -> None:
    rows = measure(Plan(tmp_path, seconds=0.3, rounds=1, most=2_000))
    assert [row.number for row in rows] == ["P5"] * 4
    assert not any("not answered" in row.measured for row in rows), rows
    assert all("(" in row.measured and row.is_met is not None for row in rows), rows
