"""``receiver tasks watch``: a line for each change."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.text import Text

from ops import report
from ops.admin.filters import read_search
from ops.admin.redaction import Redaction, load_redaction
from ops.admin.view import show_dossier, show_summary
from ops.commands.connection import REFUSED, Store
from ops.commands.listing import Words, name_tool, say
from ops.render import open_console, print_json, shorten, write, write_status
from receiver.protocol.lifecycle import TERMINAL
from receiver.store.inspect import Filter, Inspector, Summary

LOOK_SECONDS = 2.0  # between two looks at what nobody tells of
PAGE = 200
PAGES = 10  # of one look

_SHOWN = ("status", "status_message", "progress", "progress_message", "attempt", "run", "parked", "worker")


async def watch_task(store: Store, task_id: str, *, as_json: bool) -> int:
    """Prints how a task stands each time that this changes, to its end.

    A message of its channel says "look again"; it is looked at every two seconds all the same.
    """
    redaction, last = load_redaction(store.settings.redact), None
    async with _listen(store, task_id) as wait:
        while (dossier := await store.inspector.examine(task_id)) is not None:
            task = show_dossier(dossier, redaction)
            if (state := [task[name] for name in _SHOWN]) != last:
                _print_change(task, task["now"], as_json=as_json)
                last = state
            if task["status"] in TERMINAL:
                return 0
            await wait()
    report.complain("there is no such task, or its time is over")
    return REFUSED


async def watch_filter(store: Store, words: Words, *, as_json: bool) -> int:
    """Prints each task of a filter when it is new, or its status changed, until it is interrupted."""
    redaction, now = load_redaction(store.settings.redact), await store.read_time()
    filter, seen = read_search(words, now).filter, dict[str, tuple[str, str]]()
    since = now
    while True:
        for summary in reversed([found async for found in _find(store.inspector, filter, since)]):
            mark = (summary.fields["status"], summary.fields["updated_at"])
            if seen.get(summary.id) != mark and int(mark[1]) >= now:
                _show(summary, redaction, as_json=as_json)
            seen[summary.id] = mark
            since = max(since, int(mark[1]))
        seen = {task_id: mark for task_id, mark in seen.items() if filter.owner or int(mark[1]) >= since}
        await asyncio.sleep(LOOK_SECONDS)


@asynccontextmanager
async def _listen(store: Store, task_id: str) -> AsyncIterator[Any]:
    """Gives what waits for a message about a task, or until it is time to look all the same."""
    async with store.redis.pubsub(ignore_subscribe_messages=True) as pubsub:
        await pubsub.subscribe(store.keys.events(task_id))
        await pubsub.get_message(ignore_subscribe_messages=False, timeout=LOOK_SECONDS)

        async def wait() -> None:
            await pubsub.get_message(timeout=LOOK_SECONDS)

        yield wait


async def _find(inspector: Inspector, filter: Filter, since: int) -> AsyncIterator[Summary]:
    """What changed since a time; of one owner, whose index knows only when a task was created, the newest page."""
    wanted, position = filter if filter.owner else replace(filter, since=since), None
    for _ in range(1 if filter.owner else PAGES):
        page, position = await inspector.search(wanted, PAGE, position)
        for summary in page:
            yield summary
        if position is None:
            return


def _show(summary: Summary, redaction: Redaction, *, as_json: bool) -> None:
    task = show_summary(summary, redaction)
    _print_change(task, task["updated_at"], as_json=as_json)


def _print_change(task: Mapping[str, Any], at: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"at": at, **{name: value for name, value in task.items() if name != "timeline"}}, is_line=True)
    else:
        print_line(open_console(), task, at)


def print_line(console: Console, task: Mapping[str, Any], at: str) -> None:
    """How a task stands, on one line."""
    parts: list[str | Text] = [shorten(at), "  ", write(task["id"]), "  ", write_status(task["status"])]
    console.print(Text.assemble(*parts, "  ", name_tool(task), "  ", write(say(task))), soft_wrap=True)
