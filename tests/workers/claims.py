"""Claims as a store would make them, for tests that need none."""

from typing import Any

from receiver.queue import encode_job
from receiver.store.record import ClaimedRun
from workers.roster import ActiveRun

ID = "0-" + "0" * 32


def new_claim(task_id: str = ID, run: int = 1, *, job: bytes | None = None, **fields: Any) -> ClaimedRun:
    """A claim of a task; ``fields`` are those of its record."""
    record = {"kind": "task", "tool": "draw", "attempt": 1, "max_attempts": 3, "expires_at": 60_000, **fields}
    encoded = {name: str(value).encode() for name, value in record.items()}
    return ClaimedRun(task_id, run, encode_job(task_id) if job is None else job, encoded, claimed_at=0)


def new_run(task_id: str = ID, run: int = 1, **fields: Any) -> ActiveRun:
    """A run on its way."""
    return ActiveRun(new_claim(task_id, run, **fields))
