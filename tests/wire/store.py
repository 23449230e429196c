"""Looks into the store, for what the wire does not show."""

import asyncio
from collections.abc import Awaitable, Callable

from redis.asyncio import Redis

from receiver.store.keys import Keys

WAIT_SECONDS = 20
LOOK_SECONDS = 0.01


class Store:
    """What the deployment of ``namespace`` has in ``redis``."""

    def __init__(self, redis: Redis, namespace: str) -> None:
        self._redis = redis
        self.keys = Keys(namespace)

    async def until_gone(self, key: str) -> None:
        """Returns when there is no such key."""

        async def is_gone() -> bool:
            return not await self._redis.execute_command("EXISTS", key)

        await until(is_gone)

    async def until_there(self, key: str) -> None:
        """Returns when there is such a key."""

        async def is_there() -> bool:
            return bool(await self._redis.execute_command("EXISTS", key))

        await until(is_there)

    async def until_open(self, streams: str, count: int) -> None:
        """Returns when so many streams are open in a set of them; one that was closed not long ago leaves a mark."""

        async def are_open() -> bool:
            members = await self._redis.execute_command("ZRANGE", streams, 0, -1)
            return len(set(members) - {b"left"}) == count

        await until(are_open)

    async def until_under_way(self, session: str, request: int) -> None:
        """Returns when a request of a session is known to be under way."""

        async def is_known() -> bool:
            return bool(await self._redis.execute_command("HEXISTS", self.keys.requests(session), str(request)))

        await until(is_known)


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Returns when ``condition`` holds."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not await condition():  # noqa: ASYNC110 - the store rings no bell for tests
            await asyncio.sleep(LOOK_SECONDS)
