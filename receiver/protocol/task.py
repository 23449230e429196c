"""What both wires show of a task.  The record in the store is era-neutral, and so is this view of it."""

from dataclasses import dataclass

from receiver.protocol.lifecycle import Status


@dataclass(frozen=True, slots=True)
class Task:
    """Times are milliseconds since the epoch by the store's clock; ``ttl`` and ``poll_interval`` are milliseconds.

    ``updated_at`` is the last change of ``status`` or ``status_message`` (T-42).
    """

    id: str
    status: Status
    status_message: str | None
    created_at: int
    updated_at: int
    ttl: int
    poll_interval: int
