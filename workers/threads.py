"""Runs plain functions, each in a daemon thread of its own.

The default executor has few threads and joins them at exit: one function that never returns would keep the worker.
A thread can't be stopped, only abandoned; a worker that drags too many of those along had better be replaced.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from workers.ending import Ending, call_ending

ABANDONED_LIMIT = 8


class Threads:
    """The threads of one worker.  ``retire`` is called once more than ABANDONED_LIMIT run that nobody waits for."""

    def __init__(self, retire: Callable[[], None]) -> None:
        self._retire = retire
        self._abandoned: set[asyncio.Future[Ending]] = set()

    @property
    def abandoned(self) -> int:
        """How many threads run on that were given up."""
        return len(self._abandoned)

    def run(self, name: str, function: Callable[[], Any]) -> "asyncio.Future[Ending]":
        """Starts ``function`` in this context."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Ending] = loop.create_future()
        context = contextvars.copy_context()

        def work() -> None:
            ending = context.run(call_ending, function)
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(self._settle, future, ending)

        threading.Thread(target=work, name=name, daemon=True).start()
        return future

    def abandon(self, future: "asyncio.Future[Ending]") -> None:
        """Gives up the thread behind ``future``, which is not done; it goes on."""
        future.cancel()
        self._abandoned.add(future)
        if len(self._abandoned) > ABANDONED_LIMIT:
            self._retire()

    def _settle(self, future: "asyncio.Future[Ending]", ending: Ending) -> None:
        self._abandoned.discard(future)
        if not future.done():
            future.set_result(ending)
