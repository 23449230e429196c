"""Looks into the store, for what the wire does not show."""

import asyncio
from collections.abc import Awaitable, Callable

from redis.asyncio import Redis

from receiver.store.keys import Keys

WAIT_SECONDS = 20
LOOK_SECONDS = 0.01


class Records:
    """The records of the deployment whose keys are in ``redis`` under ``namespace``."""

    def __init__(self, redis: Redis, namespace: str) -> None:
        self._redis = redis
        self._keys = Keys(namespace)

    async def until(self, task_id: str, field: str) -> None:
        """Returns when the record of a task has ``field``."""

        async def has_field() -> bool:
            return bool(await self._redis.execute_command("HEXISTS", self._keys.task(task_id), field))

        await _until(has_field)

    async def until_there_are(self, count: int) -> None:
        """Returns when there are ``count`` records, of tasks and of plain calls."""

        async def are_there() -> bool:
            return len(await self.keys()) == count

        await _until(are_there)

    async def keys(self) -> set[bytes]:
        """The key of each record."""
        found = await self._redis.execute_command("KEYS", self._keys.task("*"))
        return {
            key for key in found if key.count(b":") == self._keys.task("").count(":")
        }  # and not what belongs to one


async def _until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(WAIT_SECONDS):
        while not await condition():  # noqa: ASYNC110 - the store rings no bell for tests
            await asyncio.sleep(LOOK_SECONDS)
