"""The five statuses of a task and every legal change between them.

A task begins as ``working`` (T-31).  The two open statuses lead to each other and to every terminal status
(T-32, T-33); a terminal status is never left (T-34).  Where this table is enforced is the scripts of
``receiver/store/lua``: a test walks all 25 pairs against them.
"""

from typing import Literal, get_args

Status = Literal["working", "input_required", "completed", "failed", "cancelled"]

STATUSES: tuple[Status, ...] = get_args(Status)
FIRST: Status = "working"

TRANSITIONS: dict[Status, frozenset[Status]] = {
    "working": frozenset({"input_required", "completed", "failed", "cancelled"}),
    "input_required": frozenset({"working", "completed", "failed", "cancelled"}),
    "completed": frozenset(),
    "failed": frozenset(),
    "cancelled": frozenset(),
}

TERMINAL: frozenset[Status] = frozenset(status for status, following in TRANSITIONS.items() if not following)


def is_terminal(status: Status) -> bool:
    """Whether a task in ``status`` can no longer change."""
    return status in TERMINAL


def may_follow(before: Status, after: Status) -> bool:
    """Whether a task may change from ``before`` to ``after``."""
    return after in TRANSITIONS[before]
