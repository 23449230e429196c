"""Whether an API node should be sent requests: ``/readyz`` asks."""

import asyncio

from redis.asyncio import Redis
from redis.exceptions import RedisError

from receiver.protocol.errors import ReceiverError
from receiver.settings import Durability
from receiver.store.census import Census
from receiver.store.condition import ANSWER_SECONDS, find_fault

DRAINING = "this node is about to end"
NO_WORKER = "no worker is alive: tasks are taken, and wait"


class Readiness:
    """Of one node.  ``needs_workers``: without a live worker it is not ready."""

    def __init__(self, redis: Redis, census: Census, *, durability: Durability | None, needs_workers: bool) -> None:
        self._redis = redis
        self._census = census
        self._durability = durability
        self._needs_workers = needs_workers
        self.is_draining = False

    async def find_reason(self) -> str | None:
        """Why the node is not ready; None if it is."""
        if self.is_draining:
            return DRAINING
        return await find_fault(self._redis, self._durability) or await self._find_idleness()

    async def _find_idleness(self) -> str | None:
        if not self._needs_workers:
            return None
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return None if await self._census.has_live_worker() else NO_WORKER
        except (RedisError, OSError, TimeoutError, ReceiverError) as error:
            return f"the store does not tell of workers ({type(error).__name__})"
