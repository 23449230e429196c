"""Background work of one worker: actors that go on for ever, and errands that end by themselves."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, NoReturn

import structlog

from receiver.cancellation import cancel_all
from receiver.store.client import is_passing, pause_before

STABLE_SECONDS = 5.0  # an actor that worked this long starts from the shortest pause again
FAILURES = 8  # as many as make the longest pause

log = structlog.get_logger(__name__)


class Actors:
    """Everything that runs beside the main loop, so that all of it can be ended."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def keep_going(self, name: str, work: Callable[[], Awaitable[object]]) -> None:
        """Runs ``work`` until ``stop``, whatever happens to it."""
        self.spawn(keep_going(name, work))

    def spawn(self, errand: Coroutine[Any, Any, object]) -> None:
        """Runs ``errand`` once; its error goes to the log."""
        task = asyncio.create_task(errand)
        self._tasks.add(task)
        task.add_done_callback(self._forget)

    async def stop(self) -> None:
        """Cancels all, and returns when all have ended."""
        while self._tasks:
            await cancel_all(self._tasks)

    def _forget(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("errand_failed", exc_info=error)


async def keep_going(name: str, work: Callable[[], Awaitable[object]]) -> NoReturn:
    """Runs ``work`` for ever: whenever it ends, by an error or not, it is started again after a pause."""
    loop = asyncio.get_running_loop()
    failures = 0
    while True:
        started = loop.time()
        try:
            await work()
        except Exception as error:
            if not is_passing(error):
                log.exception("actor_failed", actor=name)
        failures = 0 if loop.time() - started > STABLE_SECONDS else min(failures + 1, FAILURES)
        await asyncio.sleep(pause_before(failures))
