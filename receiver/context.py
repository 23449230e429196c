"""What a running tool may know and ask.  A worker makes the Context; a tool takes it as a parameter::

    async def render(pages: int, ctx: Context) -> str:
        await ctx.progress(3, total=pages)

A plain function runs in a thread of its own, where nothing can be awaited; it does the same by ``ctx.sync``::

    def render(pages: int, ctx: Context) -> str:
        ctx.sync.progress(3, total=pages)
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from typing import Any, Literal

from receiver.principal import Principal

LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


class Context(ABC):
    """One run of a tool.  The properties may be read from any thread."""

    @property
    @abstractmethod
    def task_id(self) -> str | None:
        """The id of the task, or None for a plain call."""

    @property
    @abstractmethod
    def run(self) -> int:
        """The number of this run; it rises each time the task is taken up, for whatever reason."""

    @property
    @abstractmethod
    def attempt(self) -> int:
        """1 at first, and one more after each lost worker and each ``Retry``; ``max_attempts`` bounds it."""

    @property
    @abstractmethod
    def state(self) -> Any:
        """What the receiver's ``lifespan`` yielded in this worker process."""

    @property
    @abstractmethod
    def principal(self) -> Principal:
        """Who called the tool."""

    @property
    @abstractmethod
    def cancelled(self) -> bool:
        """Whether the work is no longer wanted.

        An async tool is cancelled by asyncio as well; a plain function that loops has to look here.
        """

    @property
    @abstractmethod
    def sync(self) -> "SyncContext":
        """The methods of this Context for plain functions: they block, and must not be called in async tools."""

    @abstractmethod
    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Say how far the work is: ``done`` of ``total``, in any unit, never less than before."""

    @abstractmethod
    async def status(self, message: str) -> None:
        """Set the task's status message, one line that requestors see while it works (T-106)."""

    @abstractmethod
    async def log(self, level: LogLevel, data: Any) -> None:
        """Send a log message to the requestor: ``data`` is any JSON value."""


class SyncContext:
    """``ctx.sync``.  ``block_on`` runs a coroutine where the Context lives, and returns when it is done."""

    def __init__(self, context: Context, block_on: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        self._context = context
        self._block_on = block_on

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """As ``Context.progress``."""
        self._block_on(self._context.progress(done, total, message))

    def status(self, message: str) -> None:
        """As ``Context.status``."""
        self._block_on(self._context.status(message))

    def log(self, level: LogLevel, data: Any) -> None:
        """As ``Context.log``."""
        self._block_on(self._context.log(level, data))
