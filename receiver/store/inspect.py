"""What operators read: everything of every owner, by indexes and counters alone.

No method walks the keyspace (SCAN, KEYS) or reads more than a bounded number of entries; each is one or two round
trips.  What operators do stands in ``interventions``.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from receiver.protocol.cursor import Position
from receiver.protocol.lifecycle import STATUSES, Status
from receiver.protocol.task_id import is_task_id
from receiver.store.client import ATTEMPT_SECONDS, Client
from receiver.store.record import Kind
from receiver.store.tallies import Tally, to_tally

# What stands in a list of tasks; search.lua asks for the first three.
SUMMARY_FIELDS = (
    *("status", "kind", "tool", "method", "owner", "status_message", "created_at", "updated_at", "started_at"),
    *("finished_at", "expires_at", "attempt", "max_attempts", "run", "worker", "queue", "progress", "progress_total"),
    *("progress_message", "parked", "retry_of"),
)
MINUTE_MS = 60_000
LONGEST_TALLY = 1440  # minutes: they are kept for a day


@dataclass(frozen=True, slots=True)
class Filter:
    """Which tasks; ``since`` is the least updated_at (of one owner: created_at) in ms.  Empty fields restrict nothing.

    ``tools`` and ``not_tools`` hold tool names, or what else an operation is known by.
    """

    statuses: tuple[Status, ...] = ()
    tools: tuple[str, ...] = ()
    not_tools: tuple[str, ...] = ()
    kind: Kind | None = "task"
    owner: str = ""
    since: int | None = None

    def takes(self, label: str) -> bool:
        """Whether tasks of this label are wanted."""
        kind, _, tool = label.partition(":")
        is_kind = self.kind is None or kind == self.kind
        return is_kind and (not self.tools or tool in self.tools) and tool not in self.not_tools


@dataclass(frozen=True, slots=True)
class Summary:
    """A task in a list: those of SUMMARY_FIELDS that its record has, as text."""

    id: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class QueueState:
    """A queue: what is ready, leased and set for later, and how many workers serve it.

    Of more than a thousand leases, and sleeps and retries, a share is estimated.  ``oldest``: how many ms ago the
    oldest of the first hundred that are ready was created; None if none is.
    """

    name: str
    ready: int
    leased: int
    later: int
    oldest: int | None
    workers: int


@dataclass(frozen=True, slots=True)
class Survey:
    """How much there is of everything.  ``counts``: of each label, by status.  ``lost``: leases that ran out."""

    now: int
    counts: Mapping[str, Mapping[Status, int]]
    queues: Sequence[QueueState]
    leases: int
    lost: int
    later: int

    def count(self, filter: Filter) -> dict[Status, int]:
        """How many tasks a filter finds, by status; ``owner`` and ``since`` are not looked at."""
        found = [counts for label, counts in self.counts.items() if filter.takes(label)]
        statuses = filter.statuses or STATUSES
        return {status: sum(counts[status] for counts in found) for status in statuses}


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a task, at a time in ms."""

    at: int
    name: str
    detail: str


@dataclass(frozen=True, slots=True)
class Dossier:
    """All that the store knows of one task.  ``steps``: the size in bytes of each thing that its runs remember.

    ``place`` is that in its queue, from 0; ``streams`` how many hear it just now.
    """

    id: str
    now: int
    record: Mapping[str, bytes]
    inputs: Mapping[str, bytes]
    steps: Mapping[str, int]
    history: Sequence[Event]
    retries: Sequence[str]
    place: int | None
    streams: int


class Inspector:
    """Reads for operators.  A worker is up that was heard of within ``lease`` ms.

    Raises Unavailable, or TimeoutError and redis-py's errors, where the store is away.
    """

    def __init__(self, client: Client, *, lease: int = 10_000) -> None:
        self._client = client
        self._lease = lease

    async def survey(self, queues: Iterable[str] = ()) -> Survey:
        """Counts of everything, in one round trip; of ``queues`` too that were never used."""
        now, labels, found, leases, lost, later = await self._client.call("survey", self._lease, *queues)
        counts = {label.decode(): dict(zip(STATUSES, numbers, strict=True)) for label, *numbers in labels}
        states = sorted(map(_to_queue_state, found), key=lambda state: state.name)
        return Survey(now, counts, states, leases, lost, later)

    async def count(self, filter: Filter) -> int | None:
        """How many tasks a filter finds, with those that expired in the last seconds; None if only a walk would tell.

        That is so of an owner's tasks of some statuses or tools.  Two round trips.
        """
        keys, since = self._client.keys, "-inf" if filter.since is None else filter.since
        if filter.owner and (filter.statuses or filter.tools or filter.not_tools or filter.kind == "call"):
            return None
        counted = [keys.owner(filter.owner)]
        if not filter.owner:
            labels = [label for label in await self.labels() if filter.takes(label)]
            counted = [keys.status(status, label) for label in labels for status in filter.statuses or STATUSES]
        async with asyncio.timeout(ATTEMPT_SECONDS), self._client.redis.pipeline(transaction=False) as pipe:
            for key in counted:
                pipe.zcount(key, since, "+inf")
            counts: list[int] = await pipe.execute()
        return sum(counts)

    async def labels(self) -> list[str]:
        """The labels that there are."""
        keys = self._client.keys
        async with asyncio.timeout(ATTEMPT_SECONDS):
            return [label.decode() for label in await self._client.redis.zrange(keys.labels(), 0, -1)]

    async def search(
        self, filter: Filter, size: int, after: Position | None = None
    ) -> tuple[list[Summary], Position | None]:
        """A page, newest first, and where the next one begins; None at the end.  Two round trips.

        Ordered by updated_at, and for one owner by created_at.  A page may be short, or empty, and not the last.
        """
        labels = [label for label in await self.labels() if filter.takes(label)]
        start = ("+inf", "") if after is None else (after.created_at, after.task_id)
        since = "-inf" if filter.since is None else filter.since
        statuses = " ".join(filter.statuses or STATUSES)
        head = (size, *start, since, filter.owner, statuses, len(labels), *labels)
        time, last, entries = await self._client.call("search", *head, *SUMMARY_FIELDS)
        found = [Summary(task_id.decode(), _to_fields(values)) for task_id, values in entries]
        return found, Position(int(time), last.decode()) if last else None

    async def examine(self, task_id: str) -> Dossier | None:
        """All of one task; None if there is none, or this is no id.  One round trip."""
        if not is_task_id(task_id):
            return None
        now, *found = await self._client.call("examine", task_id)
        if not found:
            return None
        record, inputs, steps, history, retries, place, streams = found
        return Dossier(
            id=task_id,
            now=now,
            record=_to_mapping(record),
            inputs=_to_mapping(inputs),
            steps={name.decode(): size for name, size in steps},
            history=[_to_event(entry) for entry in history],
            retries=[retry.decode() for retry in retries],
            place=None if place < 0 else place,
            streams=streams,
        )

    async def tallies(self, minutes: int) -> list[Tally]:
        """What happened in each of the last minutes, oldest first; the last is the present one.  Two round trips."""
        redis, keys = self._client.redis, self._client.keys
        async with asyncio.timeout(ATTEMPT_SECONDS), redis.pipeline(transaction=False) as pipe:
            seconds, _ = await redis.time()
            last = seconds // 60
            span = range(last - min(minutes, LONGEST_TALLY) + 1, last + 1)
            for minute in span:
                pipe.hgetall(keys.tally(str(minute)))
            found = await pipe.execute()
        return [to_tally(minute * MINUTE_MS, fields) for minute, fields in zip(span, found, strict=True)]


def _to_queue_state(row: Sequence[Any]) -> QueueState:
    name, ready, leased, later, age, workers = row
    return QueueState(name.decode(), ready, leased, later, age if age >= 0 else None, workers)


def _to_fields(values: Sequence[bytes | None]) -> dict[str, str]:
    pairs = zip(SUMMARY_FIELDS, values, strict=True)
    return {name: value.decode(errors="replace") for name, value in pairs if value is not None}


def _to_mapping(flat: Sequence[bytes]) -> dict[str, bytes]:
    return {name.decode(): value for name, value in zip(flat[::2], flat[1::2], strict=True)}


def _to_event(entry: bytes) -> Event:
    at, name, detail = cast(tuple[str, str, str], tuple(entry.decode(errors="replace").split(" ", 2)))
    return Event(int(at), name, detail)
