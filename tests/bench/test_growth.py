"""The measurement works, with fewer tasks, and what it draws is the same each time."""

import json
from pathlib import Path

import pytest

from tests.bench.growth import OPERATIONS, ROLES, measure
from tests.bench.row import Plan


@pytest.mark.timeout(120)
def test_costs_are_measured_at_each_size(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    rows = measure(Plan(tmp_path, seconds=0.3, rounds=1, most=2_000), tmp_path)
    assert [row.number for row in rows] == ["P10"] * len(OPERATIONS)
    stages = json.loads((tmp_path / "growth.json").read_text())
    assert [stage["tasks"] for stage in stages] == [1_000, 2_000]
    assert all(set(cost["cpu"]) == set(ROLES) for stage in stages for cost in stage["costs"].values())
    assert "<text" in (tmp_path / "growth.svg").read_text()


def test_the_picture_is_the_same_for_the_same_figures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from tests.bench.drawing import draw

    costs = {name: {"cpu": dict.fromkeys(ROLES, 100.0), "latency": 1.0} for name in OPERATIONS}
    stages = [{"tasks": tasks, "costs": costs} for tasks in (1_000, 10_000)]
    paths = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for path in paths:
        draw(stages, path)
    first, second = (path.read_bytes() for path in paths)
    assert first == second
