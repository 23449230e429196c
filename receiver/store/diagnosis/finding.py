"""What is wrong, why that matters, and what to do about it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]
SHOWN = 10  # examples of a finding


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong.  ``name`` stays the same over releases; ``examples`` are ids or keys, a few of them."""

    name: str
    severity: Severity
    what: str
    why: str
    fix: str
    examples: tuple[str, ...] = ()


def pick(examples: Iterable[str]) -> tuple[str, ...]:
    """As many examples as are shown, in order."""
    return tuple(sorted(set(examples))[:SHOWN])


def count(number: int, noun: str) -> str:
    """``1 task``, ``2 tasks``, ``2 processes``."""
    ending = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number} {noun}{ending}"
