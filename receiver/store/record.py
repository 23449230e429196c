"""The record of a task as Python sees it, and the fields that each reader asks for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from receiver.protocol.lifecycle import Status
from receiver.protocol.task import Task

SCHEMA = 1  # raised when an older worker could not run a newer record

# In this order also in the messages that _outbox.lua makes.
TASK_FIELDS = ("status", "status_message", "created_at", "updated_at", "ttl", "poll_interval")
OUTCOME_FIELDS = ("status", "expires_at", "outcome", "payload", "trace")

Kind = Literal["task", "call"]
Value = bytes | None


def to_task(task_id: str, values: Sequence[Value]) -> Task:
    """The values of TASK_FIELDS as a Task."""
    status, message, created_at, updated_at, ttl, poll_interval = values
    return Task(
        id=task_id,
        status=cast(Status, _text(status)),
        status_message=None if message is None else message.decode(),
        created_at=int(_text(created_at)),
        updated_at=int(_text(updated_at)),
        ttl=int(_text(ttl)),
        poll_interval=int(_text(poll_interval)),
    )


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a task is for whoever waits for it.  ``remaining``: ms until it expires.

    ``outcome`` and ``payload`` (JSON bytes) are set when the work ended, and stay None in a cancelled task.
    ``trace`` is where it was created.
    """

    status: Status
    remaining: int
    outcome: Literal["result", "error"] | None
    payload: bytes | None
    trace: str


def to_progress(now: int, values: Sequence[Value]) -> Progress:
    """The values of OUTCOME_FIELDS as a Progress."""
    status, expires_at, outcome, payload, trace = values
    return Progress(
        status=cast(Status, _text(status)),
        remaining=int(_text(expires_at)) - now,
        outcome=None if outcome is None else cast(Literal["result", "error"], outcome.decode()),
        payload=payload,
        trace="" if trace is None else trace.decode(),
    )


@dataclass(frozen=True, slots=True)
class ClaimedRun:
    """A run that a worker may now execute.  ``fields`` is the whole record, ``job`` arq's payload."""

    task_id: str
    run: int
    job: bytes
    fields: Mapping[str, bytes]
    claimed_at: int

    @property
    def kind(self) -> Kind:
        return cast(Kind, self.text("kind"))

    @property
    def attempt(self) -> int:
        return int(self.text("attempt"))

    @property
    def max_attempts(self) -> int:
        return int(self.text("max_attempts"))

    @property
    def remaining(self) -> int:
        """Milliseconds from the claim until the task expires."""
        return int(self.text("expires_at")) - self.claimed_at

    def text(self, name: str) -> str:
        """A field of the record; a missing one is ``""``."""
        return self.fields.get(name, b"").decode()


def to_claimed_run(now: int, entry: Sequence[object]) -> ClaimedRun:
    """One entry of claim's reply."""
    task_id, run, job, flat = cast(tuple[bytes, int, bytes, list[bytes]], tuple(entry))
    fields = {name.decode(): value for name, value in zip(flat[::2], flat[1::2], strict=True)}
    return ClaimedRun(task_id.decode(), run, job, fields, now)


def _text(value: Value) -> str:
    if value is None:
        raise ValueError("the record lacks a field that every task has")
    return value.decode()
