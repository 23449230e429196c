"""The counts of a minute: read, added up, and turned into times."""

import math

from receiver.store.tallies import Count, sum_up, to_ms, to_tally

FIELDS = {
    b"task:draw created": b"7",
    b"task:draw completed 40": b"3",
    b"task:draw completed 44": b"1",
    b"task:draw failed -": b"2",
    b"call:weather://{city} report created": b"1",
}


def test_a_minute_is_read_by_label() -> None:
    tally = to_tally(60_000, FIELDS)
    draw = tally.counts["task:draw"]
    assert (tally.begins, draw.created) == (60_000, 7)
    assert draw.ended == {"completed": 4, "failed": 2}
    assert draw.took == {40: 3, 44: 1}
    assert tally.counts["call:weather://{city} report"].created == 1


def test_times_come_back_within_ten_percent() -> None:
    for took in (1, 3, 17, 1_000, 86_400_000):
        step = math.floor(4 * math.log2(took) + 0.5)
        assert abs(to_ms(step) / took - 1) < 0.1


def test_mean_and_percentiles() -> None:
    draw = to_tally(0, FIELDS).counts["task:draw"]
    assert draw.mean == (3 * to_ms(40) + to_ms(44)) / 4
    assert draw.percentile(0.5) == to_ms(40)
    assert draw.percentile(0.95) == to_ms(44)
    assert draw.percentile(1.0) == to_ms(44)


def test_what_never_ran_has_no_time() -> None:
    assert (Count().mean, Count().percentile(0.95)) == (None, None)


def test_minutes_add_up() -> None:
    totals = sum_up([to_tally(0, FIELDS), to_tally(60_000, FIELDS)])
    assert totals["task:draw"].created == 14
    assert totals["task:draw"].took == {40: 6, 44: 2}
