"""Task ids: which shard holds the task, and 128 random bits."""

import re
import secrets
from typing import TypeGuard

_SHAPE = re.compile(r"[a-z0-9]{1,3}-[0-9a-f]{32}")


def new_task_id(shard: str = "0") -> str:
    """A task id that cannot be guessed (T-87).  ``shard`` is one to three of a-z and 0-9."""
    return f"{shard}-{secrets.token_hex(16)}"


def is_task_id(value: object) -> TypeGuard[str]:
    """Whether ``value`` has the shape of a task id.  Anything else is unknown before a key is built of it (T-76)."""
    return isinstance(value, str) and _SHAPE.fullmatch(value) is not None
