"""The survey of the store for metrics: kept for a moment, and done without where the store is away."""

import asyncio
import time
from collections.abc import Callable, Collection

import structlog
from redis.exceptions import RedisError

from receiver.protocol.errors import ReceiverError
from receiver.store.client import Client
from receiver.store.inspect import Inspector, Survey

PATIENCE_SECONDS = 1.0  # whoever scrapes waits a few seconds at most, and shall get the rest
KEPT_SECONDS = 5.0  # what was read, or could not be: no number of scrapes loads the store

log = structlog.get_logger(__name__)


class GaugeStore:
    """A survey that names ``queues``, as they are by then.  A worker is up that was heard of within ``lease`` ms."""

    def __init__(
        self,
        client: Client,
        queues: Callable[[], Collection[str]],
        *,
        lease: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inspector = Inspector(client.with_patience(PATIENCE_SECONDS), lease=lease)
        self._name_queues = queues
        self._clock = clock
        self._reading = asyncio.Lock()
        self._survey: Survey | None = None
        self._kept_until = clock()

    async def read(self) -> Survey | None:
        """The survey, up to 5 seconds old; None while the store is away."""
        async with self._reading:
            if self._clock() >= self._kept_until:
                self._survey = await self._read()
                self._kept_until = self._clock() + KEPT_SECONDS
            return self._survey

    async def _read(self) -> Survey | None:
        try:
            return await self._inspector.survey(self._name_queues())
        except (ReceiverError, RedisError) as error:  # the rest of the page is worth having, then above all
            log.warning("gauges_not_read", error=type(error).__name__)
            return None
