"""The connection of one process to the store: calls scripts, and waits out a Redis that is away for a moment."""

import asyncio
import random
import time
from typing import Any

from redis.asyncio import BlockingConnectionPool, Redis
from redis.exceptions import (
    BusyLoadingError,
    ConnectionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
    TimeoutError,
)

from receiver.protocol.errors import Refused, Unavailable
from receiver.store.keys import Keys
from receiver.store.scripts import Argument, load

# What passes by itself: sent again until the caller's patience ends.  Every script may be sent twice.
PASSING = (
    ConnectionError,
    TimeoutError,
    BusyLoadingError,
    ReadOnlyError,
    OSError,
    asyncio.TimeoutError,
)
_PASSING_REPLIES = (
    "BUSY ",
    "CLUSTERDOWN ",
    "MASTERDOWN ",
    "MISCONF ",
    "NOREPLICAS ",
    "TRYAGAIN ",
    "UNBLOCKED ",
)  # those that redis-py has no class for

FIRST_PAUSE = 0.02
LONGEST_PAUSE = 0.5
_DOUBLINGS = 10  # more change nothing, and would overflow in a long outage


def is_passing(error: BaseException) -> bool:
    """Whether the same command may succeed a moment later."""
    return isinstance(error, PASSING) or (isinstance(error, ResponseError) and str(error).startswith(_PASSING_REPLIES))


def pause_before(attempt: int) -> float:
    """Seconds to wait before the attempt after the ``attempt``-th: doubling up to half a second, with jitter."""
    pause = min(FIRST_PAUSE * 2.0 ** min(attempt, _DOUBLINGS), LONGEST_PAUSE)
    return pause * random.uniform(0.5, 1.0)  # noqa: S311 - not a secret


def connect(url: str, *, connections: int = 64, timeout: float = 5.0) -> Redis:
    """A client with a bounded pool.  ``timeout`` in seconds ends a connection that does not answer."""
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=connections,
        timeout=timeout,
        socket_timeout=timeout,
        socket_connect_timeout=1.0,
    )
    return Redis(connection_pool=pool)


class Client:
    """Calls scripts on one shard.  ``patience``: seconds to go on trying while Redis is away; None for ever."""

    def __init__(self, redis: Redis, keys: Keys, *, patience: float | None = 5.0, with_flags: bool = True) -> None:
        self.redis = redis
        self.keys = keys
        self.patience = patience
        self._with_flags = with_flags

    def with_patience(self, patience: float | None) -> "Client":
        """The same connection for callers of another patience."""
        return Client(self.redis, self.keys, patience=patience, with_flags=self._with_flags)

    async def call(self, name: str, *arguments: Argument) -> Any:
        """Runs the script ``name``.  Raises Unavailable when patience ends, Refused when the store is full."""
        deadline = None if self.patience is None else time.monotonic() + self.patience
        attempt = 0
        while True:
            try:
                return await self._try(deadline, name, *arguments)
            except OutOfMemoryError as error:
                raise Refused("storage_full", "The task store is full; try again later") from error
            except Exception as error:
                pause = pause_before(attempt)
                if not is_passing(error):
                    raise
                if deadline is not None and time.monotonic() + pause > deadline:
                    raise Unavailable from error
                attempt += 1
                await asyncio.sleep(pause)

    async def _try(self, deadline: float | None, name: str, *arguments: Argument) -> Any:
        """One attempt.  It heeds a cancellation that redis-py's ``wait_for`` swallowed (before Python 3.12)."""
        task = asyncio.current_task()
        before = task.cancelling() if task else 0
        try:
            async with asyncio.timeout_at(self._loop_deadline(deadline)):
                return await self.evaluate(name, *arguments)
        finally:
            if task and task.cancelling() > before:
                raise asyncio.CancelledError

    async def evaluate(self, name: str, *arguments: Argument) -> Any:
        """Runs the script ``name`` once, and loads it where the server does not know it."""
        script = load(name, with_flags=self._with_flags)
        tail = (2, self.keys.prefix, self.keys.job_prefix, *arguments)
        try:
            return await self.redis.execute_command("EVALSHA", script.sha, *tail)
        except NoScriptError:
            return await self.redis.execute_command("EVAL", script.source, *tail)

    @staticmethod
    def _loop_deadline(deadline: float | None) -> float | None:
        if deadline is None:
            return None
        return asyncio.get_running_loop().time() + max(0.0, deadline - time.monotonic())
