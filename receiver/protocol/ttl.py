"""How long a task lives: what a requestor asks for, and what it is granted.

All durations are integer milliseconds, counted from the creation of the task (X-6).
"""

from dataclasses import dataclass

from receiver.protocol.errors import InvalidParams

LONGEST = 2**63  # what null asks for: more than any deployment grants
MARGIN = 60_000  # what a requestor has left to fetch the outcome of a run that took all of its time

AskedTtl = int | None
"""Positive, of any size; None where the requestor left the ttl to the receiver."""


@dataclass(frozen=True, slots=True)
class TtlBounds:
    """What a deployment grants: ``default`` to those who don't ask, and the least and the most for those who do."""

    default: int
    minimum: int
    maximum: int


def read_ttl(task: object) -> AskedTtl:
    """The ttl that ``params.task`` asks for; ``LONGEST`` for null, which the schema lacks and some clients send.

    An integral number counts however it was written: 60000, 6e4, 60000.0.  Raises InvalidParams for other values.
    """
    if not isinstance(task, dict):
        raise InvalidParams("params.task must be an object")
    if "ttl" not in task:
        return None
    ttl = task["ttl"]
    if ttl is None:
        return LONGEST
    if isinstance(ttl, bool) or not isinstance(ttl, int | float) or not _is_positive_integer(ttl):
        raise InvalidParams("params.task.ttl must be a positive integer, in milliseconds")
    return int(ttl)


def find_floor(timeout: int | None, min_ttl: int | None) -> int | None:
    """The least ttl that a tool may be granted, from what it declares; None if it declares neither."""
    declared = [duration for duration in (timeout, min_ttl) if duration is not None]
    return max(declared) + MARGIN if declared else None


def grant_ttl(asked: AskedTtl, bounds: TtlBounds, floor: int | None) -> int:
    """The ttl of a task: what was asked, within the bounds (T-43, T-93), and never less than ``floor``.

    The floor wins over the maximum as well: a task that ends before its tool may is of no use to anyone.
    """
    wanted = bounds.default if asked is None else asked
    granted = max(bounds.minimum, min(wanted, bounds.maximum))
    return granted if floor is None else max(granted, floor)


def _is_positive_integer(number: int | float) -> bool:
    return number > 0 and (isinstance(number, int) or number.is_integer())  # NaN and the infinities are neither
