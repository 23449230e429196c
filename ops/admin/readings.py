"""What operators read, as JSON-able dicts: the API answers with them, and the pages show them.

Each is at most five round trips, of a bounded size, however many tasks there are.  Times are in ms by the store's
clock, and durations too, unless the name says otherwise.
"""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ops.admin.desk import Desk
from ops.admin.filters import Search, write_search
from ops.admin.view import show_dossier, show_summary
from receiver.protocol.lifecycle import STATUSES
from receiver.store.audit import Wanted
from receiver.store.census import SessionPosition, WorkerView
from receiver.store.inspect import Filter, Survey
from receiver.store.tallies import Count, Tally, sum_up

MINUTES = 60  # that the overview tells of
WORKERS = 200
SESSIONS = 50
WAITERS = 100
EVENTS = 50
NO_TASK = "There is no such task: its time may be over, or it was purged"
AUDIT_WORDS = ("task", "operation", "who", "outcome")


async def read_overview(desk: Desk) -> dict[str, Any]:
    """Counts by status, what each of the last MINUTES brought, tools, queues and workers.  Four round trips."""
    survey, tallies, workers = await asyncio.gather(
        desk.inspector.survey(), desk.inspector.tallies(MINUTES), desk.census.list_workers(WORKERS)
    )
    return {
        "now": survey.now,
        "counts": survey.count(Filter()),
        "calls": survey.count(Filter(kind="call")),
        "minutes": [_show_minute(tally) for tally in tallies],
        "tools": _list_tools(survey, tallies),
        "queues": _show_queues(survey, workers),
        "leases": survey.leases,
        "lost_leases": survey.lost,
        "later": survey.later,
        "workers": [_show_worker(worker, survey.now) for worker in workers],
    }


async def read_tasks(desk: Desk, search: Search) -> dict[str, Any]:
    """A page of tasks, newest first, and how many there are.  Five round trips.

    ``total`` is None where only a walk would tell: of an owner's tasks of some statuses or tools.
    """
    filter = search.filter
    (found, position), survey, total = await asyncio.gather(
        desk.inspector.search(filter, search.limit, search.after),
        desk.inspector.survey(),
        desk.inspector.count(filter),
    )
    following = None if position is None else write_search(Search(filter, search.limit, position))
    return {
        "now": survey.now,
        "tasks": [show_summary(summary, desk.redaction) for summary in found],
        "next": following,
        "total": total,
        "by_status": survey.count(Filter(STATUSES, filter.tools, filter.not_tools, filter.kind)),
        "tools": sorted({label.partition(":")[2] for label in survey.counts}),
    }


async def read_task(desk: Desk, task_id: str) -> dict[str, Any] | None:
    """All of one task; None if there is none.  One round trip."""
    dossier = await desk.inspector.examine(task_id)
    return None if dossier is None else show_dossier(dossier, desk.redaction)


async def read_queues(desk: Desk) -> dict[str, Any]:
    """What waits, runs, and waits for a time.  Two round trips."""
    survey, workers = await asyncio.gather(desk.inspector.survey(), desk.census.list_workers(WORKERS))
    return {
        "now": survey.now,
        "queues": _show_queues(survey, workers),
        "leases": survey.leases,
        "lost_leases": survey.lost,
        "later": survey.later,
    }


async def read_workers(desk: Desk) -> dict[str, Any]:
    """The workers and the API nodes.  Three round trips."""
    now, workers, nodes = await asyncio.gather(
        _read_clock(desk), desk.census.list_workers(WORKERS), desk.census.list_nodes(WORKERS)
    )
    return {
        "now": now,
        "workers": [_show_worker(worker, now) for worker in workers],
        "nodes": [asdict(node) | {"silent": max(0, now - node.seen_at)} for node in nodes],
    }


async def read_sessions(desk: Desk, owner: str, after: str) -> dict[str, Any]:
    """A page of sessions, of all owners or of one.  Three round trips.  ValueError for a bad ``after``."""
    position = _read_session_position(after)
    now, count, (sessions, following) = await asyncio.gather(
        _read_clock(desk),
        desk.census.count_sessions(),
        desk.census.list_sessions(SESSIONS, position, owner=owner),
    )
    return {
        "now": now,
        "total": count,
        "sessions": [asdict(session) for session in sessions],
        "next": None if following is None else f"{following.score}/{following.session}",
    }


async def read_waiters(desk: Desk) -> dict[str, Any]:
    """Who waits longest, at any node.  Two round trips."""
    now, waiters = await asyncio.gather(_read_clock(desk), desk.census.list_waiters(WAITERS))
    return {"now": now, "waiters": [asdict(waiter) | {"waited": max(0, now - waiter.since)} for waiter in waiters]}


async def _read_clock(desk: Desk) -> int:
    async with asyncio.timeout(desk.client.patience):
        seconds, micros = await desk.redis.time()
    return int(seconds) * 1000 + int(micros) // 1000


def _read_session_position(after: str) -> SessionPosition | None:
    if not after:
        return None
    score, _, session = after.partition("/")
    if not math.isfinite(float(score)):
        raise ValueError("an infinite score is that of no session")
    return SessionPosition(score, session)


def _show_minute(tally: Tally) -> dict[str, Any]:
    total = Count()
    for label, count in tally.counts.items():
        if label.startswith("task:"):
            total.add(count)
    ended = {status: total.ended[status] for status in ("completed", "failed", "cancelled")}
    return {"begins": tally.begins, "created": total.created, **ended, "p95": total.percentile(0.95)}


def _list_tools(survey: Survey, tallies: Sequence[Tally]) -> list[dict[str, Any]]:
    hour, last = sum_up(tallies), sum_up(tallies[-2:])
    return [_show_tool(label, survey.counts[label], hour, last) for label in sorted(survey.counts)]


def _show_tool(
    label: str, counts: Mapping[Any, int], hour: Mapping[str, Count], last: Mapping[str, Count]
) -> dict[str, Any]:
    kind, _, tool = label.partition(":")
    count, recent = hour.get(label, Count()), last.get(label, Count())
    return {
        "kind": kind,
        "tool": tool,
        "counts": dict(counts),
        "created": count.created,
        "ended": count.ended.total(),
        "failed": count.ended["failed"],
        "ended_lately": recent.ended.total(),
        "mean": count.mean,
        "p50": count.percentile(0.5),
        "p95": count.percentile(0.95),
    }


def _show_queues(survey: Survey, workers: Sequence[WorkerView]) -> list[dict[str, Any]]:
    live = [worker for worker in workers if worker.is_live]
    return [
        {**asdict(queue), "workers": sum(queue.name in worker.queues for worker in live)} for queue in survey.queues
    ]


def _show_worker(worker: WorkerView, now: int) -> dict[str, Any]:
    return {**asdict(worker), "queues": list(worker.queues), "silent": max(0, now - worker.seen_at)}


async def read_audit(desk: Desk, words: Mapping[str, str], before: str) -> dict[str, Any]:
    """Events of the audit trail, newest first.  Up to five round trips.  ValueError for a bad ``before``."""
    page = await desk.trail.page(before or None, EVENTS, Wanted(**{name: words.get(name, "") for name in AUDIT_WORDS}))
    return {
        "is_kept": desk.trail.is_kept,
        "events": [{"id": it.id, "time": it.time, "times": it.times, **it.event._asdict()} for it in page.entries],
        "next": page.before,
    }
