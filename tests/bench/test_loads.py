from pathlib import Path

from tests.bench import loads
from tests.bench.row import Plan


def test_each_load_is_measured_beside_the_floor(tmp_path: Path) -> None:
    rows = loads.measure(Plan(tmp_path, seconds=0.2, rounds=1))
    assert {row.number for row in rows} == {"P1", "P2", "P3", "P4"}
    judged = [row for row in rows if row.is_met is not None]
    assert len(judged) == 9
    one_script = [row for row in judged if row.goal == "1 script"]
    assert len(one_script) == 3
    assert all(row.is_met for row in one_script)  # P1 and P4: one flight
