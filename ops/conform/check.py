"""A check: one thing that the specification asks of a server, and the function that finds out.

    @check("T-31", "MUST", "a task begins as working", tools=("echo",))
    async def begins_as_working(server: Server) -> None:
        ...

It returns when all is well.  A check that nothing can be said about raises NotApplicable, as a server that can't be
asked does; what breaks the rule raises Violation.
"""

import importlib
import pkgutil
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ops.conform.server import Server

Level = Literal["MUST", "SHOULD", "MAY"]
Run = Callable[["Server"], Awaitable[None]]


class NotApplicable(Exception):
    """The check says nothing about this server; the text says why."""


@dataclass(frozen=True)
class Check:
    """``rows`` of the specification; ``tools`` by role and ``needs`` (see ``Server.require``) that it can't do without.

    ``name`` is the function's, with hyphens.  What is run ``alone`` would disturb others, or be disturbed.
    """

    name: str
    rows: tuple[str, ...]
    level: Level
    title: str
    tools: tuple[str, ...]
    needs: tuple[str, ...]
    run: Run
    alone: bool = False

    def is_wanted(self, only: Sequence[str]) -> bool:
        """Whether a row, a family of rows (``H``) or a name in ``only`` means it; nothing there means all."""
        mine = {self.name, *self.rows, *(row.partition("-")[0] for row in self.rows)}
        return not only or not mine.isdisjoint(only)


_registered: dict[str, Check] = {}


def check(
    rows: str,
    level: Level,
    title: str,
    *,
    tools: Sequence[str] = (),
    needs: Sequence[str] = (),
    alone: bool = False,
) -> Callable[[Run], Check]:
    """Makes a function a check of ``rows``, which are separated by spaces."""

    def register(run: Run) -> Check:
        name = getattr(run, "__name__", repr(run)).replace("_", "-")
        if name in _registered:
            raise ValueError(f"two checks are named {name}")
        made = Check(name, tuple(rows.split()), level, title, tuple(tools), tuple(needs), run, alone)
        _registered[name] = made
        return made

    return register


def load_checks() -> list[Check]:
    """All checks, in the order of their rows."""
    from ops.conform import checks

    for module in pkgutil.iter_modules(checks.__path__):
        importlib.import_module(f"{checks.__name__}.{module.name}")
    return sorted(_registered.values(), key=lambda check: (_order(check.rows[0]), check.name))


def _order(row: str) -> tuple[int, int]:
    family, _, number = row.partition("-")
    return "LHSTE".find(family), int(number)
