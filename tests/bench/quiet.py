"""Waits for the machine: what shares its caches and its memory, and is not to be seen from here, may halve a rate."""

import random
import statistics
import sys
import time
from collections.abc import Callable

CALIBRATIONS = 20
PROBES = 5  # of which the middle one counts
MOST = 1.3  # times the best that was seen: a quiet machine
PAUSE_SECONDS = 0.2
PATIENCE_SECONDS = 20.0  # before one round
BUDGET_SECONDS = 600.0  # before all of them
ITEMS = 400_000
READS = 30_000


class Quiet:
    """How long ``probe`` takes at best, in seconds, and who waits until it does about as well."""

    def __init__(self, probe: Callable[[], float] | None = None, sleep: Callable[[float], object] = time.sleep) -> None:
        self._probe = probe or Memory().probe
        self._sleep = sleep
        self._best = min(self._measure() for _ in range(CALIBRATIONS))
        self.waited = 0.0  # seconds so far

    def wait(self) -> bool:
        """Returns when the machine is quiet, with True; or when there is no more patience."""
        patience = min(PATIENCE_SECONDS, BUDGET_SECONDS - self.waited)
        while not (is_quiet := self._is_quiet()) and patience > 0:
            self._sleep(PAUSE_SECONDS)
            patience -= PAUSE_SECONDS
            self.waited += PAUSE_SECONDS
        return is_quiet

    def describe(self) -> str:
        """What a reader of the figures has to know."""
        return (
            f"A round begins when a probe of the machine's memory takes at most {MOST:g} times its best, or after "
            f"{PATIENCE_SECONDS:g} s, and {BUDGET_SECONDS:g} s in all: {self.waited:.0f} s were waited."
        )

    def _is_quiet(self) -> bool:
        took = self._measure()
        self._best = min(self._best, took)
        return took <= MOST * self._best

    def _measure(self) -> float:
        return statistics.median(self._probe() for _ in range(PROBES))


def begin_round(quiet: Quiet, what: str) -> None:
    """Says what is measured next, when the machine is quiet."""
    quiet.wait()
    print(what, file=sys.stderr, flush=True)


class Memory:
    """Some megabytes that are read all over the place, as an interpreter does."""

    def __init__(self) -> None:
        self._items = [random.random() for _ in range(ITEMS)]  # noqa: S311 - not a secret
        self._places = random.sample(range(ITEMS), READS)

    def probe(self) -> float:
        """Seconds that so many reads take."""
        begun = time.perf_counter()
        sum(self._items[place] for place in self._places)
        return time.perf_counter() - begun
