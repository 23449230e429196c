"""Rounds: in each, every contestant in turn, on servers that were started for it, goes through all loads."""

import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from ops.bench.requestor import Unexpected
from receiver.protocol.errors import StartupError
from tests.bench.comparing import compare
from tests.bench.peers.roster import Contestant
from tests.bench.subject import Subject

PATIENCE_SECONDS = 30.0  # beyond the time of a round
FAILURES = (Unexpected, StartupError, ConnectionError, AssertionError, KeyError)


@dataclass(frozen=True)
class Load:
    """A column: ``what`` so many requestors do, of which the rate counts, or the latency."""

    title: str
    what: str
    requestors: int
    by_latency: bool = False


CREATE = Load("create/s at 16", "create", 16)
GET = Load("tasks/get/s at 16", "get", 16)
RUN = Load("end to end/s at 16", "run", 16)
RUN_MANY = Load("end to end/s at 64", "run", 64)
RUN_ALONE = Load("end to end at 1, p50 in ms", "run", 1, by_latency=True)
LOADS = (RUN_ALONE, GET, RUN, RUN_MANY, CREATE)  # what leaves work behind comes last


@dataclass
class Cell:
    """What one contestant did under one load, by the way to wait: a value a round, or why there is none."""

    values: dict[str, list[float]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def best(self, load: Load) -> tuple[str, list[float]] | None:
        """Of the ways that did not fail, the one whose median is the best, and its values."""
        measured = [(way, values) for way, values in self.values.items() if way not in self.failures]
        choose = min if load.by_latency else max
        return choose(measured, key=lambda item: statistics.median(item[1]), default=None)

    def median(self, load: Load) -> float | None:
        """That of the best way."""
        best = self.best(load)
        return None if best is None else statistics.median(best[1])


Cells = Mapping[tuple[Contestant, Load], Cell]
Turn = tuple[Load, str]  # a load, and a way to wait


def run_rounds(
    contestants: Sequence[Contestant],
    *,
    rounds: int,
    seconds: float,
    told: Callable[[str], object],
    patience: float = PATIENCE_SECONDS,
) -> Cells:
    """All that was measured.  What failed once is not tried again; ``patience``: seconds for what has to end."""
    cells = {(contestant, load): Cell() for contestant in contestants for load in LOADS}
    for number in range(rounds):
        for contestant in contestants:
            told(f"round {number + 1} of {rounds}: {contestant.title}")
            todo = [turn for turn in _list_turns(contestant) if turn[1] not in cells[contestant, turn[0]].failures]
            while todo:  # a server that failed is not asked again, but another one
                done = _take_turns(contestant, todo, cells, seconds, patience)
                todo = todo[done:]
    return cells


def _list_turns(contestant: Contestant) -> list[Turn]:
    first, *others = contestant.ways
    return [(load, way) for load in LOADS for way in (first, *(others if load.what == "run" else ()))]


def _take_turns(contestant: Contestant, turns: Sequence[Turn], cells: Cells, seconds: float, patience: float) -> int:
    """How many of the turns one server went through, to the end or its first failure."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        for number, (load, way) in enumerate(turns):
            cell = cells[contestant, load]
            try:
                if number == 0:
                    subject = stack.enter_context(contestant.run(Path(folder)))
                one = replace(subject, open=contestant.ways[way])
                cell.values.setdefault(way, []).append(_measure(one, load, seconds, patience))
            except (TimeoutError, *FAILURES, ExceptionGroup) as error:
                cell.failures[way] = describe(error)
                return number + 1
    return len(turns)


def _measure(subject: Subject, load: Load, seconds: float, patience: float) -> float:
    found = compare(
        [subject], load.what, requestors=load.requestors, seconds=seconds, rounds=1, patience=seconds + patience
    )[subject.name]
    return found.latency(0.5) if load.by_latency else found.rate


def describe(error: BaseException) -> str:
    """The words for a cell.  Raises what is no failure of a server."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return "hangs"
    if not isinstance(error, FAILURES):
        raise error
    first = (str(error) or type(error).__name__).splitlines()[0]
    return f"fails: {first[:80]}"
