"""A task that a client runs for the server, as the client tells of it: what is read is no more than what is needed."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from receiver.protocol.errors import InvalidAnswer
from receiver.protocol.lifecycle import STATUSES, Status

DEFAULT_POLL_INTERVAL = 1000  # ms, for a client that asks for none
SHORTEST_POLL_INTERVAL = 250


@dataclass(frozen=True, slots=True)
class ClientTask:
    """``ttl`` in ms from its creation, None for one without end; ``poll_interval`` in ms, the least between two polls.

    The interval is the client's (T-18, T-47) or a longer one, never a shorter one.
    """

    id: str
    status: Status
    ttl: int | None
    poll_interval: int


def read_created_task(result: object) -> ClientTask | None:
    """The task in a CreateTaskResult, None for a result of another kind.  Raises InvalidAnswer."""
    task = result.get("task") if isinstance(result, Mapping) else None
    return None if task is None else read_client_task(task)


def read_client_task(task: object) -> ClientTask:
    """A task, as ``tasks/get`` answers it.  Raises InvalidAnswer."""
    if not isinstance(task, Mapping):
        raise InvalidAnswer("task: must be an object")
    id, status = task.get("taskId"), task.get("status")
    if not isinstance(id, str) or not id:
        raise InvalidAnswer("taskId: must be a text")
    if status not in STATUSES:
        raise InvalidAnswer(f"status: must be one of {', '.join(STATUSES)}")
    ttl, interval = _read_milliseconds(task, "ttl"), _read_milliseconds(task, "pollInterval")
    interval = DEFAULT_POLL_INTERVAL if interval is None else max(interval, SHORTEST_POLL_INTERVAL)
    return ClientTask(id, cast(Status, status), ttl, interval)


def _read_milliseconds(task: Mapping[str, Any], name: str) -> int | None:
    number = task.get(name)
    if number is None:
        return None
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number < 2**53:
        raise InvalidAnswer(f"{name}: must be a number of milliseconds")
    return math.ceil(number)
