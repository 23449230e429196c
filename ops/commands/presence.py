"""``receiver workers``, ``sessions`` and ``waiters``: who is there."""

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table

from ops.admin.filters import BadFilter, to_iso
from ops.commands.connection import REFUSED, Store
from ops.render import clip, make_table, open_console, print_json, show_age, show_duration, write
from receiver.store.census import NodeView, SessionPosition, SessionView, WaiterView, WorkerView

LEAST_OFFSET = 100  # ms by which a clock may differ, unmentioned


async def show_workers(store: Store, *, as_json: bool) -> int:
    """Prints a line for each worker."""
    now, workers = await store.read_time(), await store.census.list_workers()
    if as_json:
        print_json({"workers": [_to_json(worker, "started_at", "seen_at") for worker in workers], "now_ms": now})
    else:
        open_console().print(draw_workers(workers, now) if workers else "No workers.")
    return 0 if any(worker.is_live for worker in workers) else REFUSED


def draw_workers(workers: Sequence[WorkerView], now: int) -> Table:
    """A table of them."""
    rows = [
        (
            clip(worker.host),
            worker.pid,
            worker.version,
            clip(worker.app),
            " ".join(worker.queues),
            f"{worker.running}/{worker.slots}",
            worker.waiting,
            write(show_age(worker.seen_at, now), "" if worker.is_live else "bold red"),
            _show_offset(worker.clock_offset),
        )
        for worker in workers
    ]
    heads = ["HOST", "PID>", "VERSION", "APP", "QUEUES", "RUNNING>", "WAITING>", "HEARD", "CLOCK>"]
    return make_table(heads, rows, wrapped="QUEUES")


async def show_sessions(store: Store, owner: str, limit: int, after: str | None, *, as_json: bool) -> int:
    """Prints a page of sessions."""
    start = _read_position(after)
    now, total = await store.read_time(), await store.census.count_sessions()
    sessions, position = await store.census.list_sessions(limit, start, owner=owner)
    following = None if position is None else f"{position.score}/{position.session}"
    if as_json:
        shown = [_to_json(session, "created_at", "heard_at") for session in sessions]
        print_json({"total": total, "sessions": shown, "after": following, "now_ms": now})
        return 0 if sessions else REFUSED
    console = open_console()
    console.print(f"{total:,} session{'s' * (total != 1)}" if total else "No sessions.")
    if sessions:
        console.print(draw_sessions(sessions, now))
    if following is not None:
        owned = ["--owner", owner] if owner else []
        words = ["receiver", "sessions", *owned, "--limit", str(limit), "--after", following]
        console.print(write(f"Next page: {shlex.join(words)}"), soft_wrap=True)
    return 0 if sessions else REFUSED


def draw_sessions(sessions: Sequence[SessionView], now: int) -> Table:
    """A table of them."""
    rows = [
        (
            session.id,
            session.owner,
            clip(" ".join(str(session.client.get(part, "")) for part in ("name", "version")).strip()),
            session.protocol,
            show_age(session.heard_at, now) if session.heard_at else "-",
            show_duration(session.remaining),
            session.streams,
            session.requests,
        )
        for session in sessions
    ]
    heads = ["SESSION", "OWNER", "CLIENT", "PROTOCOL", "HEARD", "ENDS IN>", "STREAMS>", "REQUESTS>"]
    return make_table(heads, rows, wrapped="CLIENT")


async def show_waiters(store: Store, limit: int, *, as_json: bool) -> int:
    """Prints the nodes, and who waits there."""
    now, nodes = await store.read_time(), await store.census.list_nodes()
    waiters = await store.census.list_waiters(limit)
    if as_json:
        shown = [_to_json(node, "started_at", "seen_at") for node in nodes]
        print_json({"nodes": shown, "waiters": [_to_json(waiter, "since") for waiter in waiters], "now_ms": now})
        return 0 if nodes else REFUSED
    console = open_console()
    console.print(draw_nodes(nodes, now) if nodes else "No API nodes.")
    if nodes:
        console.print()
        console.print(draw_waiters(waiters, now) if waiters else "Nobody waits for a result.")
    return 0 if nodes else REFUSED


def draw_nodes(nodes: Sequence[NodeView], now: int) -> Table:
    """A table of them: how many requests wait at each, and how many streams are open."""
    rows = [
        (
            clip(node.host),
            node.pid,
            node.version,
            clip(node.app),
            node.url + " (draining)" * node.is_draining,
            node.results,
            node.calls,
            node.streams,
            show_age(node.seen_at, now),
            _show_offset(node.clock_offset),
        )
        for node in nodes
    ]
    heads = ["HOST", "PID>", "VERSION", "APP", "URL", "RESULTS>", "CALLS>", "STREAMS>", "HEARD", "CLOCK>"]
    return make_table(heads, rows, wrapped="URL")


def draw_waiters(waiters: Sequence[WaiterView], now: int) -> Table:
    """A table of them."""
    rows = [
        (waiter.task_id, waiter.kind, show_duration(now - waiter.since), waiter.owner, waiter.node)
        for waiter in waiters
    ]
    return make_table(["TASK", "KIND", "WAITS FOR>", "OWNER", "NODE"], rows, wrapped="NODE")


def _to_json(view: NodeView | WorkerView | SessionView | WaiterView, *times: str) -> dict[str, Any]:
    shown: dict[str, Any] = asdict(view)
    for name in times:
        shown |= {name: to_iso(shown[name]) if shown[name] else None, f"{name}_ms": shown[name] or None}
    return shown


def _show_offset(ms: int) -> str:
    """How far a clock is from the store's."""
    return "ok" if abs(ms) < LEAST_OFFSET else f"{ms / 1000:+.1f}s"


def _read_position(text: str | None) -> SessionPosition | None:
    if not text:
        return None
    score, slash, session = text.partition("/")
    if not (slash and session and score.isascii() and score.replace(".", "", 1).isdigit()):
        raise BadFilter(f"after is what an earlier page said, not {text!r}")
    return SessionPosition(score, session)
