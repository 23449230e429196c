"""Waiting for a quiet machine, on one whose times are made up."""

from collections.abc import Iterator

from tests.bench import quiet
from tests.bench.quiet import Memory, Quiet


class Machine:
    """Takes 1 s for a probe, or ``times`` as long until so many seconds were slept."""

    def __init__(self) -> None:
        self.slept = 0.0
        self.noise: Iterator[float] = iter(())

    def probe(self) -> float:
        return next(self.noise, 1.0)

    def sleep(self, seconds: float) -> None:
        self.slept += seconds


def make(noise: list[float]) -> tuple[Machine, Quiet]:
    machine = Machine()
    waiting = Quiet(machine.probe, machine.sleep)
    machine.noise = iter(noise)
    return machine, waiting


def test_a_quiet_machine_is_not_waited_for() -> None:
    machine, waiting = make([1.29] * quiet.PROBES)
    assert waiting.wait()
    assert machine.slept == waiting.waited == 0


def test_one_probe_of_many_may_be_slow() -> None:
    machine, waiting = make([9.0, 1.0, 9.0, 1.0, 1.0])
    assert waiting.wait()
    assert machine.slept == 0


def test_a_busy_one_is() -> None:
    machine, waiting = make([2.0] * 3 * quiet.PROBES)
    assert waiting.wait()
    assert round(machine.slept / quiet.PAUSE_SECONDS) == 3
    assert "in all: 1 s were waited" in waiting.describe()


def test_there_is_an_end_to_patience() -> None:
    machine, waiting = make([2.0] * 100_000)
    waits = 0
    while machine.slept < quiet.BUDGET_SECONDS - 1:
        assert not waiting.wait()
        waits += 1
    assert waits == quiet.BUDGET_SECONDS / quiet.PATIENCE_SECONDS
    assert not waiting.wait()
    assert machine.slept < quiet.BUDGET_SECONDS + 1


def test_it_learns_how_quiet_the_machine_can_be() -> None:
    machine, waiting = make([0.5] * quiet.PROBES + [1.0] * 2 * quiet.PROBES + [0.5] * quiet.PROBES)
    assert waiting.wait()
    assert waiting.wait()
    assert round(machine.slept / quiet.PAUSE_SECONDS) == 2


def test_the_memory_of_a_real_one_takes_its_time() -> None:
    assert Memory().probe() > 0
