"""Keeps a background actor going: Redis may go away under it, and come back."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NoReturn

import structlog

from receiver.store.client import is_passing, pause_before

STABLE_SECONDS = 5.0  # an actor that worked this long starts from the shortest pause again

log = structlog.get_logger(__name__)


async def keep_going(name: str, work: Callable[[], Awaitable[object]]) -> NoReturn:
    """Runs ``work`` for ever: whenever it ends with an error, it is started again after a pause."""
    loop = asyncio.get_running_loop()
    failures = 0
    while True:
        started = loop.time()
        try:
            await work()
        except Exception as error:
            if not is_passing(error):
                log.exception("actor_failed", actor=name)
        failures = 0 if loop.time() - started > STABLE_SECONDS else failures + 1
        await asyncio.sleep(pause_before(failures))
