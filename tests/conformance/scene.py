"""What is checked, and which of the tests were chosen."""

from typing import Any

import pytest

APP = "ops.conform.app:app"
TOKENS = {"alice-token": {"subject": "alice"}, "bob-token": {"subject": "bob"}}
# Who may ask; a limit that a check can reach; and room for what a saboteur keeps from being cancelled.
SETTINGS: dict[str, Any] = {"auth_tokens": TOKENS, "max_tasks_per_principal": 200, "worker_concurrency": 100}


def chosen(session: pytest.Session, parameter: str) -> list[Any]:
    """The values of ``parameter`` in the tests that were chosen to be run."""
    marks = [item.callspec.params for item in session.items if hasattr(item, "callspec")]
    return [params[parameter] for params in marks if parameter in params]
