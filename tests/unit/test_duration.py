import math
from datetime import timedelta
from typing import Any

import pytest

from receiver.tools.duration import Duration, milliseconds


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (2, 2_000),
        (0.0015, 2),
        (timedelta(minutes=1, microseconds=700), 60_001),
        ("500ms", 500),
        ("30s", 30_000),
        ("30m", 1_800_000),
        ("1.5h", 5_400_000),
        ("7 d", 604_800_000),
    ],
)
def test_a_duration_becomes_whole_milliseconds(written: Duration, expected: int) -> None:
    assert milliseconds(written) == expected


@pytest.mark.parametrize(
    "written",
    [0, -1, 0.0001, math.nan, math.inf, timedelta(0), "0s", "-1s", "30", "m", "1h30m", "30M", "1e3s", "٣s", "", "5s\n"],
)
def test_what_is_not_a_positive_duration_is_refused(written: Duration) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        milliseconds(written)


@pytest.mark.parametrize("written", [True, None, [1], b"1s"])
def test_a_duration_of_another_type_is_refused(written: Any) -> None:
    with pytest.raises(TypeError, match="a duration is a number of seconds"):
        milliseconds(written)
