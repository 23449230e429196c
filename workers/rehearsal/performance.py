"""What came of one call: what its requestor gets, and what was said and done on the way, over all its runs."""

from collections import Counter
from typing import Any, NamedTuple

import orjson

from receiver.protocol.loglevel import LogLevel
from receiver.protocol.outcome import Outcome
from workers.rehearsal.answers import Question


class Progress(NamedTuple):
    """As a requestor hears it: what does not rise is not said."""

    done: float
    total: float | None = None
    message: str | None = None


class Log(NamedTuple):
    """A log message, of any level."""

    level: LogLevel
    data: Any


class Point(NamedTuple):
    """A place in a run: ``before``, ``in`` or ``behind`` a recorded call, or ``behind`` all of them."""

    when: str
    call: str

    def __str__(self) -> str:
        return f"{self.when} {describe(self.call)}"


END = Point("behind", "its last call")  # it has its outcome, and did not write it


class Trace:
    """The recorded calls of a task.  ``kill`` is where its run ends as if its worker were lost, once.

    ``calls``: by run, in order; ``values``: what came of them, as JSON; ``done``: how often steps were run to
    their record.
    """

    def __init__(self, kill: Point | None) -> None:
        self._kill = kill
        self.is_killed = False
        self.points: list[Point] = []
        self.calls: list[list[str]] = []
        self.values: dict[str, bytes] = {}
        self.done: Counter[str] = Counter()
        self.outcomes: list[Outcome] = []
        self.swallowed: str | None = None
        self.diverged: str | None = None

    def arrive(self, point: Point) -> bool:
        """Takes note of ``point``; whether the run ends there."""
        if point not in self.points:
            self.points.append(point)
        ends = point == self._kill and not self.is_killed
        self.is_killed |= ends
        return ends


class Performance:
    """One call of an operation, played to its end."""

    def __init__(self, name: str, questions: list[Question], kill: Point | None = None) -> None:
        self.name = name
        self.questions = questions
        self.trace = Trace(kill)
        self.task_id = ""
        self.runs = 0
        self.steps: list[str] = []
        self.progress: list[Progress] = []
        self.logs: list[Log] = []
        self.statuses: list[str] = []
        self.updated: list[str] = []
        self.exception: BaseException | None = None

    def __repr__(self) -> str:
        return f"<{self.name}: {self.status if self.trace.outcomes else 'under way'}, run {self.runs}>"

    @property
    def outcome(self) -> Outcome:
        """What was written in the end."""
        return self.trace.outcomes[-1]

    @property
    def status(self) -> str:
        """``completed`` or ``failed``: of a task as its requestor sees it."""
        return self.outcome.status

    @property
    def result(self) -> dict[str, Any]:
        """The result, such as a CallToolResult; AssertionError where it was a JSON-RPC error."""
        if self.outcome.kind == "error":
            raise AssertionError(f"{self.name} ended in an error: {self.error}") from self.exception
        result: dict[str, Any] = orjson.loads(self.outcome.payload)
        return result

    @property
    def error(self) -> dict[str, Any] | None:
        """The JSON-RPC error, None where there is a result."""
        error: dict[str, Any] = orjson.loads(self.outcome.payload)
        return error if self.outcome.kind == "error" else None

    @property
    def text(self) -> str:
        """The first text of the result."""
        return next((str(it["text"]) for it in self.result.get("content", ()) if it.get("type") == "text"), "")


def describe(call: str) -> str:
    """A recorded call by its name in the store, for people."""
    kind, _, number = call.rpartition("#")
    names = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "sleep": "sleep"}
    if kind.startswith("step/"):
        return f"step {kind.removeprefix('step/')!r}" + ("" if number == "1" else f" (use {number})")
    return f"{names[kind]} {number}" if kind in names else call
