from itertools import product

import pytest

from receiver.protocol.lifecycle import FIRST, STATUSES, TERMINAL, TRANSITIONS, Status, is_terminal, may_follow

LEGAL = {
    ("working", "input_required"),  # T-32
    ("working", "completed"),
    ("working", "failed"),
    ("working", "cancelled"),
    ("input_required", "working"),  # T-33
    ("input_required", "completed"),
    ("input_required", "failed"),
    ("input_required", "cancelled"),
}


def test_first() -> None:
    assert FIRST == "working"  # T-31


@pytest.mark.parametrize(("before", "after"), list(product(STATUSES, repeat=2)))
def test_changes(before: Status, after: Status) -> None:
    assert may_follow(before, after) == ((before, after) in LEGAL)


@pytest.mark.parametrize("status", STATUSES)
def test_terminal_is_what_is_never_left(status: Status) -> None:  # T-34
    assert is_terminal(status) == (status in {"completed", "failed", "cancelled"})
    assert is_terminal(status) == (not any(may_follow(status, after) for after in STATUSES))


def test_table_knows_every_status() -> None:
    assert set(TRANSITIONS) == set(STATUSES)
    assert set(STATUSES) >= TERMINAL
