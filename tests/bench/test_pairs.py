"""The measurement works, in less time."""

from pathlib import Path

import pytest

from tests.bench.pairs import REQUESTORS, measure
from tests.bench.row import Plan


@pytest.mark.timeout(120)
def test_two_are_compared_with_one(tmp_path: Path) -> None:
    rows = measure(Plan(tmp_path, seconds=0.3, rounds=1, most=2_000))
    assert [row.number for row in rows] == ["P10"] * len(REQUESTORS)
    assert all(float(row.measured.split()[0]) > 0 for row in rows), rows
