import pytest

import workers.waits
from workers.waits import Waits


class Clock:
    """Time that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(workers.waits, "time", clock)
    return clock


def test_a_run_waits_while_any_of_its_waits_lasts_and_no_step_works() -> None:
    waits, turns, begun = Waits(), list[bool](), list[bool]()
    waits.on_turn = lambda: turns.append(waits.is_waiting)
    waits.on_wait = lambda: begun.append(waits.is_waiting)
    with waits.wait("a") as news, waits.wait("b"):
        assert waits.calls == ["a", "b"]
        assert waits.is_waiting
        with waits.work():
            assert not waits.is_waiting
        waits.notify()
        assert news.is_set()
    assert waits.calls == []
    assert turns == [True, False, True, False]
    assert begun == [True, True]


def test_a_step_without_a_wait_is_no_turn() -> None:
    waits, turns = Waits(), list[bool]()
    waits.on_turn = lambda: turns.append(waits.is_waiting)
    with waits.work():
        pass
    assert turns == []


def test_the_time_of_a_run_stands_still_while_it_waits(clock: Clock) -> None:
    waits = Waits()
    clock.now += 1
    for _ in range(2):
        with waits.wait("a"):
            clock.now += 10
            assert waits.waiting == 10
            with waits.work():
                clock.now += 5
                assert waits.waiting == 0
            clock.now += 20
    assert (waits.elapsed, waits.ran, waits.waiting) == (71, 11, 0)


def test_waits_that_end_by_an_exception_end() -> None:
    waits = Waits()
    with pytest.raises(ValueError, match="x"), waits.wait("a"):
        raise ValueError("x")
    assert not waits.is_waiting
