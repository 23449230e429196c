"""A connection that loses replies, and can bring a call a second time when other things have happened."""

from collections import deque
from typing import Any

from receiver.store.client import Client
from receiver.store.scripts import Argument

KEPT = 8  # calls that may still arrive again

Call = tuple[str, tuple[Argument, ...], bool]


class Wire(Client):
    """``loses`` the reply of the next call, which is sent again; keeps what was ``sent``."""

    loses = False

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.sent: deque[Call] = deque(maxlen=KEPT)

    def with_patience(self, patience: float | None) -> "Wire":
        return self  # what is kept and lost is so for all stores

    async def evaluate(self, name: str, *arguments: Argument, admitted: bool = False) -> Any:
        self.sent.append((name, arguments, admitted))
        if self.loses:
            self.loses = False
            await super().evaluate(name, *arguments, admitted=admitted)
        return await super().evaluate(name, *arguments, admitted=admitted)

    async def send_late(self, place: int) -> str:
        """One of the last calls arrives again; returns its name."""
        name, arguments, admitted = self.sent[place % len(self.sent)]
        await super().evaluate(name, *arguments, admitted=admitted)
        return name
