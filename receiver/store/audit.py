"""The audit trail in the store: who did what, newest first, and what is added to it."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from receiver.store.client import ATTEMPT_SECONDS, Client, is_passing, pause_before
from receiver.store.scripts import Argument
from receiver.telemetry.audit import FIELDS, Entry, Event

ROUND_TRIPS = 5  # of one page
WALKED = 1_000  # entries that one of them looks at, where not all are wanted
FOLLOWED = 200  # entries that come at once while the trail is followed
BLOCK_MS = 1_000

_ID = re.compile(r"\d{1,20}-\d{1,20}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events: all where nothing is said.  ``who`` is a subject, a worker or an operator."""

    task: str = ""
    operation: str = ""
    who: str = ""
    outcome: str = ""

    def takes(self, event: Event) -> bool:
        """Whether this is one of them."""
        pairs = (
            (self.task, event.task),
            (self.operation, event.operation),
            (self.who, event.who),
            (self.outcome, event.outcome),
        )
        return all(not wanted or wanted == found for wanted, found in pairs)


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Events, newest first.  ``before`` is where the next page begins, None behind the last one.

    There may be fewer events than were asked for, or none, although there is a next page.
    """

    entries: Sequence[Entry]
    before: str | None


ALL = Wanted()


class AuditTrail:
    """The trail of one namespace."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._key = client.keys.audit()

    @property
    def is_kept(self) -> bool:
        """Whether there is a trail at all."""
        return self._client.audit_events > 0

    async def append(self, process: str, number: int, events: Sequence[Sequence[Argument]]) -> None:
        """Appends a batch of values of STORED.  The same ``number`` of a ``process`` again changes nothing.

        Raises Unavailable and Refused.
        """
        await self._client.call("append", process, number, *(value for event in events for value in event))

    async def page(self, before: str | None = None, limit: int = 50, wanted: Wanted = ALL) -> AuditPage:
        """Up to ``limit`` events that happened before the one with the id ``before``.

        At most five round trips, and so not more than some thousand events are looked at.  ValueError for what is
        no id.
        """
        found: list[Entry] = []
        size = limit if wanted == ALL else WALKED
        for _ in range(ROUND_TRIPS):
            end = "+" if before is None else f"({check_id(before)}"
            entries = await self._client.redis.xrevrange(self._key, end, "-", count=size)
            for entry in map(to_entry, entries):
                before = entry.id
                if wanted.takes(entry.event):
                    found.append(entry)
                if len(found) == limit:
                    return AuditPage(found, before)
            if len(entries) < size:
                return AuditPage(found, None)
        return AuditPage(found, before)

    async def follow(self, after: str | None = None, wanted: Wanted = ALL) -> AsyncIterator[Entry]:
        """Events as they come, for ever: those behind the id ``after``, or those from now on.

        It stays while Redis is away.  ValueError for what is no id.
        """
        position = await self._find_end() if after is None else check_id(after)
        failures = 0
        while True:
            try:
                entries = await self._wait_behind(position)
            except Exception as error:
                if not is_passing(error):
                    raise
                await asyncio.sleep(pause_before(failures))
                failures += 1
                continue
            failures = 0
            for entry in entries:
                position = entry.id
                if wanted.takes(entry.event):
                    yield entry

    async def _find_end(self) -> str:
        last = await self._client.redis.xrevrange(self._key, count=1)
        return str(last[0][0].decode()) if last else "0-0"

    async def _wait_behind(self, position: str) -> list[Entry]:
        async with asyncio.timeout(ATTEMPT_SECONDS):  # the connection may be dead
            streams: dict[Any, Any] = {self._key: position}
            answer = await self._client.redis.xread(streams, count=FOLLOWED, block=BLOCK_MS)
        return [to_entry(entry) for _, entries in answer or () for entry in entries]


def check_id(text: str) -> str:
    """``text``, which must be the id of an entry: it comes from a URL or a command line."""
    if _ID.fullmatch(text) is None:
        raise ValueError(f"{text!r} is not the id of an event")
    return text


def to_entry(entry: tuple[bytes, dict[bytes, bytes]]) -> Entry:
    """An entry of the stream.  One that a newer version wrote may have more fields, an older one fewer."""
    id = entry[0].decode()
    fields = {name.decode(): value.decode(errors="replace") for name, value in entry[1].items()}
    time = int(id.partition("-")[0]) - int(fields.get("ago") or 0)
    return Entry(id, time, int(fields.get("count") or 1), Event(*(fields.get(name, "") for name in FIELDS)))
