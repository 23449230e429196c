"""How a tool's function ended, whatever it raised.

Nothing that a tool raises leaves here as an exception: asyncio ends the process for a SystemExit out of one of its
tasks, and takes a CancelledError for an answer to a ``cancel``.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from receiver.protocol.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Ending:
    """A function returned ``value``, or raised ``error`` if that is not None.

    ``outcome`` is what was made of it where it ran, if that was in another process.
    """

    value: Any = None
    error: BaseException | None = None
    outcome: Outcome | None = None

    def unwrap(self) -> Any:
        """The value; raises the error if there is one."""
        if self.error is not None:
            raise self.error
        return self.value


async def await_ending(function: Callable[[], Awaitable[Any]]) -> Ending:
    """Calls ``function`` and awaits what it returns."""
    try:
        return Ending(await function())
    except BaseException as error:
        return Ending(error=error)


def call_ending(function: Callable[[], Any]) -> Ending:
    """Calls ``function``."""
    try:
        return Ending(function())
    except BaseException as error:
        return Ending(error=error)
