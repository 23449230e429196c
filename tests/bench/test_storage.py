"""A small plan of the measurement: sizes do not depend on the machine."""

from pathlib import Path

import pytest

from tests.bench import storage
from tests.bench.row import Plan


@pytest.mark.timeout(120)
def test_small_plan_has_its_rows(tmp_path: Path) -> None:
    """P9 with few tasks: what is there once for all of them is not counted."""
    rows = storage.measure(Plan(tmp_path, most=500))
    assert {row.number for row in rows} == {"P9"}
    assert all(row.is_met for row in rows if row.goal), rows
