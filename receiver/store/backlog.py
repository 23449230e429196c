"""Events that can wait: retrievals and misses, gathered in this process and appended to the audit trail together.

What a process has gathered is lost when it is killed: that is the last second.
"""

import asyncio
import secrets
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import structlog

from receiver.store.audit import AuditTrail
from receiver.telemetry.audit import Event

INTERVAL_SECONDS = 1.0
CAPACITY = 10_000  # different events that wait at the same time
STRANGERS = 100  # different ones of requestors that nobody knows: nothing else limits how many they are
BATCH = 250  # events in one call
ATTEMPTS = 3  # each as long as the patience of the store's client
CLOSE_SECONDS = 3.0

log = structlog.get_logger(__name__)


class _Seen(NamedTuple):
    since: float
    times: int


@dataclass
class _Batch:
    number: int
    events: list[tuple[Event, _Seen]]
    failures: int = 0

    @property
    def count(self) -> int:
        return sum(seen.times for _, seen in self.events)


class Backlog:
    """The events of one process.  ``dropped`` counts those that could not be kept."""

    def __init__(self, trail: AuditTrail, *, capacity: int = CAPACITY) -> None:
        self._trail = trail
        self._capacity = capacity
        self._waiting: dict[Event, _Seen] = {}
        self._strangers = 0
        self._batches: deque[_Batch] = deque()
        self._process = secrets.token_hex(8)
        self._number = 0
        self._arrived = asyncio.Event()
        self.dropped = 0
        self._told = 0  # of those dropped

    def note(self, event: Event) -> None:
        """Takes an event; the same one again is counted."""
        if not self._trail.is_kept:
            return
        if not event.owner and self._strangers >= STRANGERS and event not in self._waiting:
            event = event._replace(address="")
        if (seen := self._waiting.get(event)) is not None:
            self._waiting[event] = _Seen(seen.since, seen.times + 1)
        elif len(self._waiting) >= self._capacity:
            self.dropped += 1
        else:
            self._strangers += not event.owner
            self._waiting[event] = _Seen(time.monotonic(), 1)
            self._arrived.set()

    async def keep_flushing(self, interval: float = INTERVAL_SECONDS) -> None:
        """Appends what has come, for ever, every ``interval`` seconds; nothing is sent while nothing comes."""
        while True:
            await self._arrived.wait()
            await asyncio.sleep(interval)
            await self.flush()

    async def close(self) -> None:
        """Appends what waits; what the store does not take is dropped."""
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.flush()
        self.dropped += sum(batch.count for batch in self._batches) + sum(seen.times for seen in self._waiting.values())
        self._tell()

    async def flush(self) -> None:
        """Appends what waits.  What the store does not take is tried again by later calls, and dropped after some."""
        self._arrived.clear()
        if not self._batches:
            self._gather()
        while self._batches:
            batch = self._batches[0]
            try:
                await self._append(batch)
            except Exception as error:
                batch.failures += 1
                if batch.failures < ATTEMPTS:
                    self._arrived.set()
                    break
                log.warning("audit_not_appended", error=type(error).__name__)
                self.dropped += batch.count
            self._batches.popleft()
        if self._waiting:
            self._arrived.set()
        self._tell()

    def _gather(self) -> None:
        """Makes batches of what waits; each keeps its number until it is appended, so that it is appended once."""
        for events in _batched(list(self._waiting.items())):
            self._number += 1
            self._batches.append(_Batch(self._number, events))
        self._waiting.clear()
        self._strangers = 0

    async def _append(self, batch: _Batch) -> None:
        now = time.monotonic()
        values = [(*event, seen.times, round(1000 * (now - seen.since))) for event, seen in batch.events]
        await self._trail.append(self._process, batch.number, values)

    def _tell(self) -> None:
        if self.dropped > self._told:
            log.warning("audit_events_dropped", count=self.dropped - self._told)
            self._told = self.dropped


def _batched(events: list[tuple[Event, _Seen]]) -> list[list[tuple[Event, _Seen]]]:
    return [events[start : start + BATCH] for start in range(0, len(events), BATCH)]
