"""What a campaign leaves behind, and the checker judges.  All times are seconds since the epoch, by one clock."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from tests.jsonlines import read_lines

Outcome = Literal["ok", "error", "unknown"]

NEVER = float("inf")


@dataclass(frozen=True)
class Operation:
    """What one requestor did once.  ``unknown``: it may have had its effect, or not.

    A ``call`` is a plain one, of a tool or of a resource, whose ``tool`` is ``reading``.
    ``reason`` of an error: ``not_found``, ``terminal <status>``, or what the server's error data says.
    ``tasks`` is what a walk through a list found, in its order; ``digest`` of an answer's bytes.
    """

    op: Literal["create", "get", "result", "list", "cancel", "answer", "call"]
    principal: str
    begun: float
    ended: float
    outcome: Outcome
    task: str = ""
    label: str = ""
    tool: str = ""
    http: int = 200
    status: str = ""
    reason: str = ""
    ttl: float = NEVER
    created: str = ""
    updated: str = ""
    digest: str = ""
    payload: Any = None
    tasks: tuple[tuple[str, str], ...] = ()
    is_final: bool = False


@dataclass(frozen=True)
class Fault:
    """What was done to the deployment, to which process or link, and from when to when; ``pid`` of who was killed."""

    kind: str
    target: str
    begun: float
    ended: float
    pid: int = 0


@dataclass(frozen=True)
class Trace:
    """A line of ground truth, as ``app.py`` writes it; ``task`` of a plain call is empty.

    ``step`` and ``step_end`` are of the function of the step ``name``, which returns ``value``; ``kept`` says what
    ``ctx.step`` gave the tool.  ``sleep`` and ``slept`` are of the sleep ``name``, and ``answered`` of a question.
    """

    event: Literal["start", "end", "stopped", "step", "step_end", "kept", "sleep", "slept", "answered"]
    tool: str
    label: str
    task: str
    run: int
    attempt: int
    nonce: str
    pid: int
    at: float
    answer: str = ""
    name: str = ""
    value: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Dump:
    """All of the store at one moment.  ``ttls`` in ms, -1 for a key that has none; values by key."""

    at: float
    ttls: Mapping[str, int]
    values: Mapping[str, Any]
    records: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Evidence:
    """Everything.  ``lease`` in seconds.

    ``secrets_found`` names the files in which a token stands; ``log_errors`` are lines of what should not happen.
    """

    operations: tuple[Operation, ...]
    faults: tuple[Fault, ...]
    traces: tuple[Trace, ...]
    dump: Dump
    lease: float = 2.0
    max_attempts: int = 3
    secrets_found: tuple[str, ...] = ()
    log_errors: tuple[str, ...] = ()


class History:
    """Collects operations and faults, and writes each to a file at once: a run that fails can be looked at."""

    def __init__(self, file: Path) -> None:
        self.operations: list[Operation] = []
        self.faults: list[Fault] = []
        self._file = file.open("a", encoding="utf-8")

    def record(self, item: Operation | Fault) -> None:
        """Takes up one more."""
        if isinstance(item, Operation):
            self.operations.append(item)
        else:
            self.faults.append(item)
        print(json.dumps({"what": type(item).__name__, **asdict(item)}), file=self._file, flush=True)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def read_traces(file: Path) -> tuple[Trace, ...]:
    """The ground truth."""
    return tuple(Trace(**line) for line in read_lines(file))


def read_stalls(file: Path) -> tuple[Fault, ...]:
    """When processes were held up, as they wrote it down."""
    return tuple(Fault(**line) for line in read_lines(file))
