"""The doorbell: wakes the worker within a millisecond when there is something to claim, without polling."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress

from redis.asyncio import Redis

from receiver.store.client import ATTEMPT_SECONDS, PASSING
from receiver.store.keys import Keys
from receiver.store.runs import QueueShare
from workers.roster import Roster

WAIT_SECONDS = 1
TTL_MS = 60_000


class Doorbell:
    """Listens to the bells of the queues that a free slot could serve, and to one of its own.

    ``wake`` says whether the worker takes notice: one that stops passes the signal on, and then hears no other.
    """

    def __init__(
        self,
        redis: Redis,
        keys: Keys,
        worker: str,
        queues: Iterable[QueueShare],
        roster: Roster,
        wake: Callable[[], bool],
    ) -> None:
        self._redis = redis
        self._own = keys.own_bell(worker)
        self._bells = [(keys.bell(queue.name), queue.is_plain) for queue in queues]
        self._roster = roster
        self._wake = wake
        self._listening: set[str] = set()

    async def keep_listening(self) -> None:
        """Wakes the worker whenever a bell rings, for ever."""
        while True:
            await self._listen_once()

    @property
    def is_deaf(self) -> bool:
        """Whether a slot became free for queues that the listener does not listen to at the moment."""
        return not self._listening.issuperset(self._wanted())

    async def listen_anew(self) -> None:
        """Makes the listener take notice of all free slots."""
        with suppress(*PASSING):  # it listens anew as soon as the store is back
            await self._ring(self._own)

    async def _listen_once(self) -> None:
        wanted = self._wanted()
        self._listening = set(wanted)
        async with asyncio.timeout(WAIT_SECONDS + ATTEMPT_SECONDS):
            rung = await self._redis.execute_command("BLPOP", *wanted, WAIT_SECONDS)
        if rung is not None and rung[0] != self._own.encode() and not self._wake():
            self._bells = []
            await self._ring(rung[0])

    async def _ring(self, bell: str | bytes) -> None:
        async with asyncio.timeout(ATTEMPT_SECONDS), self._redis.pipeline(transaction=False) as pipe:
            pipe.execute_command("RPUSH", bell, "1")
            pipe.execute_command("PEXPIRE", bell, TTL_MS)
            await pipe.execute(raise_on_error=False)  # a store that is full refuses it; a lost signal costs a second

    def _wanted(self) -> list[str]:
        slots = self._roster.slots
        return [self._own, *(bell for bell, is_plain in self._bells if (slots.free if is_plain else slots.open))]
