import pytest

from workers.retries import LONGEST_SECONDS, pause_after


@pytest.mark.parametrize(("attempt", "longest"), [(1, 1), (2, 2), (5, 16), (10, LONGEST_SECONDS), (10_000, 300)])
def test_pauses_grow_and_are_spread(attempt: int, longest: float) -> None:
    pauses = [pause_after(attempt) for _ in range(400)]
    assert 0 <= min(pauses) < longest / 4
    assert longest * 3 / 4 < max(pauses) <= longest
