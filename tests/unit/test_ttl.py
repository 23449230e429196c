from math import inf, nan
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from receiver.protocol.errors import InvalidParams
from receiver.protocol.ttl import LONGEST, AskedTtl, TtlBounds, find_floor, grant_ttl, read_ttl

BOUNDS = TtlBounds(default=3_600_000, minimum=1000, maximum=604_800_000)


class TestRead:
    @pytest.mark.parametrize("task", [{}, {"taskId": "mine"}, {"TTL": 5}])
    def test_absent(self, task: Any) -> None:  # T-13
        assert read_ttl(task) is None

    def test_null(self) -> None:
        assert read_ttl({"ttl": None}) == LONGEST

    @pytest.mark.parametrize(
        ("written", "ttl"),
        [("60000", 60_000), ("6e4", 60_000), ("60000.0", 60_000), ("1", 1), ("1.5e1", 15), ("1e300", int(1e300))],
    )
    def test_integers_however_they_are_written(self, written: str, ttl: int) -> None:
        asked = read_ttl(orjson.loads(f'{{"ttl":{written}}}'))
        assert (asked, type(asked)) == (ttl, int)

    @pytest.mark.parametrize(
        "ttl", [0, 0.0, -0.0, -1, -6e4, 0.5, 60000.5, nan, inf, -inf, True, False, "60000", "", [], [60000], {}]
    )
    def test_other_values(self, ttl: Any) -> None:  # F21
        with pytest.raises(InvalidParams, match=r"params\.task\.ttl"):
            read_ttl({"ttl": ttl})

    @pytest.mark.parametrize("task", [None, True, 60000, "x", [], [{"ttl": 60000}]])
    def test_task_must_be_an_object(self, task: Any) -> None:
        with pytest.raises(InvalidParams, match=r"params\.task must be an object"):
            read_ttl(task)


class TestFloor:
    @pytest.mark.parametrize(
        ("timeout", "min_ttl", "floor"),
        [
            (None, None, None),
            (1000, None, 61_000),
            (None, 2000, 62_000),
            (1000, 2000, 62_000),
            (3000, 2000, 63_000),
            (0, None, 60_000),
        ],
    )
    def test_floor(self, timeout: int | None, min_ttl: int | None, floor: int | None) -> None:
        assert find_floor(timeout, min_ttl) == floor


class TestGrant:
    @pytest.mark.parametrize(
        ("asked", "granted"),
        [
            (None, 3_600_000),
            (60_000, 60_000),
            (1, 1000),
            (1000, 1000),
            (604_800_000, 604_800_000),
            (604_800_001, 604_800_000),
            (int(1e300), 604_800_000),
            (LONGEST, 604_800_000),
        ],
    )
    def test_within_the_bounds(self, asked: AskedTtl, granted: int) -> None:  # T-43, T-93
        assert grant_ttl(asked, BOUNDS, None) == granted

    def test_a_default_outside_the_bounds(self) -> None:
        assert grant_ttl(None, TtlBounds(default=5000, minimum=1, maximum=1000), None) == 1000

    @pytest.mark.parametrize("asked", [None, 1, 60_000, LONGEST])
    def test_the_floor_wins_even_over_the_maximum(self, asked: AskedTtl) -> None:
        assert grant_ttl(asked, BOUNDS, 700_000_000) == 700_000_000

    def test_the_floor_takes_nothing_away(self) -> None:
        assert grant_ttl(90_000, BOUNDS, 60_000) == 90_000

    @settings(deadline=None)
    @given(st.none() | st.integers(1) | st.floats(1, allow_infinity=False).filter(float.is_integer), st.integers(0))
    def test_never_outside(self, ttl: int | float | None, floor: int) -> None:
        granted = grant_ttl(read_ttl({"ttl": ttl}), BOUNDS, floor)
        assert max(BOUNDS.minimum, floor) <= granted <= max(BOUNDS.maximum, floor)
        assert isinstance(granted, int)
