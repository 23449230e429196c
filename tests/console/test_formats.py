"""How pages write numbers, times and values."""

import pytest

from ops.console.formats import (
    LONGEST,
    format_age,
    format_detail,
    format_number,
    format_size,
    format_span,
    format_value,
)

NOW = 1_800_000_000_000
DASH = "\u2013"


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (None, DASH),
        (0, "0 ms"),
        (340.4, "340 ms"),
        (4_210, "4.2 s"),
        (42_000, "42 s"),
        (60_000, "1 min"),
        (190_000, "3 min 10 s"),
        (7_500_000, "2 h 5 min"),
        (90_000_000, "1 d 1 h"),
    ],
)
def test_a_span_has_two_units_at_most(ms: float | None, text: str) -> None:
    assert format_span(ms) == text


@pytest.mark.parametrize(
    ("then", "text"),
    [(None, DASH), (NOW, "now"), (NOW - 12_000, "12 s ago"), (NOW + 190_000, "in 3 min"), (NOW - 10**9, "11 d ago")],
)
def test_an_age_has_one(then: int | None, text: str) -> None:
    assert format_age(then, NOW) == text


@pytest.mark.parametrize(("number", "text"), [(None, DASH), (0, "0"), (999, "999"), (1_234_567, "1\u2009234\u2009567")])
def test_thousands_are_set_apart(number: int | None, text: str) -> None:
    assert format_number(number) == text


@pytest.mark.parametrize(("count", "text"), [(1, "1 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (20 * 1024**2, "20 MiB")])
def test_sizes(count: int, text: str) -> None:
    assert format_size(count) == text


def test_a_long_value_is_cut() -> None:
    text = format_value("x" * (LONGEST + 100))
    assert text.endswith("more characters")
    assert len(text) < LONGEST + 100


def test_a_detail_leaves_out_what_stands_elsewhere() -> None:
    assert format_detail("run=1 worker=w started_at=17") == "run=1 worker=w"
