"""The work of a run: its function on its way, as a coroutine or in a thread.  ``isolation`` has the third kind."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from workers.ending import Ending, await_ending
from workers.threads import Threads


class Work(Protocol):
    """``ending`` is done when the function has ended; it is cancelled if nobody will hear of that any more."""

    @property
    def ending(self) -> "asyncio.Future[Ending]": ...

    async def stop(self, seconds: float, *, is_awaited: bool) -> bool:
        """Stops it, and returns whether it has ended; what does not within ``seconds`` is given up.

        ``is_awaited``: before its task goes to another worker, also what can only wait for its end waits.
        """


class Strays:
    """The coroutines of a worker that took no notice of being cancelled: kept, since asyncio keeps no task alive."""

    def __init__(self) -> None:
        self._kept: set[asyncio.Future[Ending]] = set()

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, coroutine: "asyncio.Future[Ending]") -> None:
        """Keeps it to its end."""
        self._kept.add(coroutine)
        coroutine.add_done_callback(self._kept.discard)


class CoroutineWork:
    """An async function, on the event loop."""

    def __init__(self, name: str, function: Callable[[], Awaitable[Any]], strays: Strays) -> None:
        self.ending: asyncio.Future[Ending] = asyncio.create_task(await_ending(function), name=name)
        self._strays = strays

    async def stop(self, seconds: float, *, is_awaited: bool) -> bool:
        """Cancels it."""
        self.ending.cancel()
        await asyncio.wait({self.ending}, timeout=seconds)
        if not self.ending.done():
            self._strays.keep(self.ending)
        return self.ending.done()


class ThreadWork:
    """A plain function, in a thread.  Nothing can stop it; it may look at ``ctx.cancelled``."""

    def __init__(self, name: str, function: Callable[[], Any], threads: Threads) -> None:
        self.ending: asyncio.Future[Ending] = threads.run(name, function)
        self._threads = threads

    async def stop(self, seconds: float, *, is_awaited: bool) -> bool:
        """Waits for it, or does not."""
        if is_awaited:
            await asyncio.wait({self.ending}, timeout=seconds)
        if has_ended := self.ending.done():
            return has_ended
        self._threads.abandon(self.ending)
        return False
