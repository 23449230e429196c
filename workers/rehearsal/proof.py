"""What must hold of a call whose worker was lost on the way, beside one that was played undisturbed."""

from collections.abc import Iterator
from typing import Any

import orjson

from receiver.protocol.outcome import Outcome
from workers.rehearsal.performance import Performance, Point, describe


class Proof:
    """``model`` was played undisturbed."""

    def __init__(self, model: Performance) -> None:
        self._model = model

    def check(self, played: Performance, kill: Point | None) -> None:
        """Raises AssertionError, with the place, for one that was killed at ``kill``, or parked where that is None."""
        for fault in self._find_faults(played, kill):
            how = "parked at each wait" if kill is None else f"killed {kill}, in its first run"
            raise AssertionError(f"{played.name} can't be replayed.  It was {how}; {fault}") from played.exception

    def _find_faults(self, played: Performance, kill: Point | None) -> Iterator[str]:
        trace, model = played.trace, self._model.trace
        if trace.swallowed:
            yield f"then it was cancelled, and took no notice: {trace.swallowed}.  Let CancelledError pass"
        if trace.diverged:
            yield f"run {played.runs} diverged: {trace.diverged}"
        yield from _find_lost_calls(trace.calls)
        if fault := _find_other_outcome(trace.outcomes):
            yield f"run {played.runs} had another outcome than the run that was killed: {fault}"
        yield from _find_repeated_steps(played)
        if any(model.values[call] != value for call, value in trace.values.items() if call in model.values):
            return  # the steps had other results, from which anything may follow
        if kill is not None and not trace.is_killed:
            yield "in fact it was not: this time it never came there, though its steps had the same results before"
        calls = [{call for run in each.calls for call in run} for each in (model, trace)]
        if strange := sorted(calls[0] ^ calls[1]):
            yield f"undisturbed it makes other calls, though its steps have the same results: {_list(strange)}"
        if fault := _find_other_outcome([model.outcomes[-1], trace.outcomes[-1]]):
            yield f"undisturbed it has another outcome, though its steps have the same results: {fault}"


def _find_lost_calls(calls: list[list[str]]) -> Iterator[str]:
    """What an earlier run did and the last one did not: that was done in vain, and may be done twice."""
    for number, run in enumerate(calls[:-1], start=1):
        if lost := [call for call in run if call not in calls[-1]]:
            news = [call for call in calls[-1] if call not in run]
            instead = f"; new in it: {_list(news)}" if news else ""
            yield f"run {len(calls)} did not come to what run {number} did: {_list(lost)}{instead}"


def _find_repeated_steps(played: Performance) -> Iterator[str]:
    for call, count in played.trace.done.items():
        if count > 1:
            yield f"{describe(call)} was run {count} times"


def _find_other_outcome(outcomes: list[Outcome]) -> str:
    """Both of two outcomes that differ, ``""`` if they don't."""
    plain = [(it.kind, _load(it)) for it in outcomes]
    first, last = plain[0], plain[-1]
    return "" if first == last else f"{last[1]} where it was {first[1]}"


def _load(outcome: Outcome) -> Any:
    return orjson.loads(outcome.payload)


def _list(calls: list[str]) -> str:
    return ", ".join(map(describe, calls))
