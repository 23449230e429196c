"""The gates of ``tests/apps/wire.py``, from the side that opens them."""

from redis.asyncio import Redis

WAIT_SECONDS = 20


class Gates:
    """Each event is heard once.  ``redis`` is the database of the gates."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def open(self, label: str) -> None:
        """Lets one run pass."""
        await self._redis.execute_command("RPUSH", f"gate:{label}", 1)

    async def reached(self, label: str) -> None:
        """Returns when a run has come to the gate."""
        await self._hear(f"reached:{label}")

    async def passed(self, label: str) -> None:
        """Returns when a run has passed it."""
        await self._hear(f"passed:{label}")

    async def stopped(self, label: str) -> None:
        """Returns when a run was cancelled at it."""
        await self._hear(f"stopped:{label}")

    async def _hear(self, event: str) -> None:
        assert await self._redis.execute_command("BLPOP", event, WAIT_SECONDS), f"{event} did not come"
