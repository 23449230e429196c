"""Who is there, for operators: API nodes, workers, those who wait, and sessions.  Each reader is one round trip."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from receiver.store.client import Client

MOST = 1000  # nodes or workers of one answer
LEASE_MS = 10_000  # of a worker that does not tell its own

_NODE = ("host", "pid", "version", "app", "url", "started_at", "seen_at", "clock_offset", "results", "calls", "streams")
_WORKER = ("host", "pid", "version", "app", "queues", "slots", "running", "waiting", "started_at", "seen_at", "lease")


@dataclass(frozen=True, slots=True)
class NodeView:
    """An API node.  Times in ms by the store's clock; ``clock_offset``: its own clock minus that, in ms.

    ``results`` and ``calls``: requests that wait for a task, or a plain call; ``streams``: open GET streams.
    """

    name: str
    host: str
    pid: int
    version: str
    app: str
    url: str
    started_at: int
    seen_at: int
    clock_offset: int
    results: int
    calls: int
    streams: int
    is_draining: bool


@dataclass(frozen=True, slots=True)
class WorkerView:
    """A worker.  ``is_live``: it was heard within one ``lease``; times and lease in ms by the store's clock."""

    name: str
    host: str
    pid: int
    version: str
    app: str
    queues: tuple[str, ...]
    slots: int
    running: int
    waiting: int
    started_at: int
    seen_at: int
    lease: int
    clock_offset: int
    is_live: bool


@dataclass(frozen=True, slots=True)
class WaiterView:
    """A request that waits for a task at a node, since ``since``, in ms by the store's clock."""

    node: str
    task_id: str
    kind: str
    session: str
    owner: str
    since: int


@dataclass(frozen=True, slots=True)
class SessionPosition:
    """Where a page of sessions goes on."""

    score: str
    session: str


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session that lives.  ``remaining``: ms until it ends if it stays silent; ``heard_at`` 0 if that is not known.

    ``streams``: open GET streams; ``requests``: those under way; ``client``: what it said of itself.
    """

    id: str
    owner: str
    created_at: int
    heard_at: int
    remaining: int
    protocol: str
    client: dict[str, Any]
    log_level: str | None
    streams: int
    requests: int
    subscriptions: int


class Census:
    """What operators see of processes and sessions."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def list_nodes(self, limit: int = MOST) -> list[NodeView]:
        """The API nodes, those heard of last first."""
        _, found = await self._read("nodes", limit, *_NODE, "draining")
        return [_to_node(name, values) for name, values in found]

    async def list_workers(self, limit: int = MOST) -> list[WorkerView]:
        """The workers, those heard of last first; one that is silent is shown for ten leases."""
        now, found = await self._read("workers", limit, *_WORKER, "clock_offset")
        return [_to_worker(now, name, values) for name, values in found]

    async def list_waiters(self, limit: int = MOST) -> list[WaiterView]:
        """Who waits at any node, those who wait longest first; each node names its first 100."""
        _, found = await self._read("nodes", MOST, "seen_at", "longest")
        waiters = [
            _to_waiter(name, _number(_text(seen_at)), entry)
            for name, (seen_at, longest) in found
            for entry in orjson.loads(longest or b"[]")
        ]
        return sorted(waiters, key=lambda waiter: waiter.since)[:limit]

    async def list_sessions(
        self, size: int = 50, after: SessionPosition | None = None, *, owner: str = ""
    ) -> tuple[list[SessionView], SessionPosition | None]:
        """Up to ``size`` sessions (at most 1000) of all owners or of one, and where the next page begins.

        A page may be short, or empty, where many have just ended; it is the last when there is no position.
        """
        start = ("+inf", "") if after is None else (after.score, after.session)
        more, score, last, *found = await self._client.call("list_sessions", owner, min(size, MOST), *start)
        position = SessionPosition(score.decode(), last.decode()) if more else None
        return [_to_session(entry) for entry in found], position

    async def count_sessions(self) -> int:
        """How many sessions there are; those count that ended in the last seconds."""
        return int(await self._client.redis.zcard(self._client.keys.all_sessions()))

    async def has_live_worker(self) -> bool:
        """Whether any worker was heard within its lease."""
        return any(worker.is_live for worker in await self.list_workers(10))

    async def sweep_sessions(self, limit: int) -> int:
        """Forgets sessions that ended, looking at up to ``limit``; returns at how many it looked."""
        return int(await self._client.call("sweep_sessions", limit))

    async def _read(self, kind: str, limit: int, *fields: str) -> tuple[int, list[tuple[str, list[bytes | None]]]]:
        now, *found = await self._client.call("presences", kind, limit, *fields)
        return now, [(name.decode(), values) for name, values in found]


def _to_node(name: str, values: Sequence[bytes | None]) -> NodeView:
    host, pid, version, app, url, *rest, draining = [_text(value) for value in values]
    started_at, seen_at, offset, results, calls, streams = map(_number, rest)
    head = (name, host, _number(pid), version, app, url, started_at, seen_at, offset)
    return NodeView(*head, results, calls, streams, draining == "1")


def _to_worker(now: int, name: str, values: Sequence[bytes | None]) -> WorkerView:
    host, pid, version, app, queues, *rest, given, offset = [_text(value) for value in values]
    slots, running, waiting, started_at, seen_at = map(_number, rest)
    lease = _number(given) or LEASE_MS
    return WorkerView(
        name,
        host,
        _number(pid),
        version,
        app,
        tuple(queues.split()),
        slots,
        running,
        waiting,
        started_at,
        seen_at,
        lease,
        _number(offset),
        seen_at + lease > now,
    )


def _to_waiter(node: str, seen_at: int, entry: dict[str, Any]) -> WaiterView:
    since = seen_at - entry["waited"]
    return WaiterView(node, entry["task"], entry["kind"], entry["session"], entry["owner"], since)


def _to_session(entry: Sequence[Any]) -> SessionView:
    session, remaining, heard_at, streams, requests, subscriptions, owner, created_at, protocol, client, level = entry
    return SessionView(
        id=session.decode(),
        owner=owner.decode(),
        created_at=_number(_text(created_at)),
        heard_at=_number(_text(heard_at)),
        remaining=remaining,
        protocol=_text(protocol),
        client=orjson.loads(client or b"{}"),
        log_level=None if level is None else level.decode(),
        streams=streams,
        requests=requests,
        subscriptions=subscriptions,
    )


def _text(value: bytes | None) -> str:
    return "" if value is None else value.decode()


def _number(text: str) -> int:
    return int(text or 0)
