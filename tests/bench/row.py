"""A line of the table: what was measured, the goal, and whether it is met."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Plan:
    """How much is measured: ``rounds`` of so many ``seconds`` for each subject; ``most``: tasks in the largest store.

    ``folder`` is where servers may write; ``told`` hears what is done next, and may take its time.
    """

    folder: Path
    seconds: float = 3.0
    rounds: int = 5
    most: int = 1_000_000
    told: Callable[[str], object] = lambda _: None


@dataclass(frozen=True)
class Row:
    """``number`` is that of the goal, P1 to P10; ``is_met`` is None where there is no goal for it."""

    number: str
    what: str
    measured: str
    goal: str = ""
    is_met: bool | None = None
