"""``receiver tasks list``."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console

from ops.admin.filters import Search, read_search, write_search
from ops.admin.redaction import load_redaction
from ops.admin.view import show_summary
from ops.commands.connection import REFUSED, Store
from ops.render import clip, make_table, open_console, print_json, shorten, show_age, write, write_status
from receiver.protocol.cursor import Position
from receiver.store.inspect import Inspector, Summary

NARROW = 120  # columns, below which there is no room for everything
MOST_LOOKS = 10  # for one page, each at 2,000 tasks at most
LONGEST = 300  # characters of what a task says
HEADS = ("ID", "STATUS", "TOOL", "UPDATED", "AGE", "ATTEMPT", "WHAT IT SAYS")
HEADS_NARROW = ("ID", "STATUS", "AGE", "TOOL, AND WHAT IT SAYS")

Words = Mapping[str, str | Sequence[str]]


async def list_page(store: Store, words: Words, *, as_json: bool) -> int:
    """Prints a page, and how the next one is asked for."""
    redaction = load_redaction(store.settings.redact)
    inspector = store.inspector
    now = await store.read_time()
    search = read_search(words, now)
    total = await inspector.count(search.filter)
    found, position = await collect(inspector, search)
    tasks = [show_summary(summary, redaction) for summary in found]
    following = None if position is None else replace(search, after=position)
    if as_json:
        after = None if position is None else position.to_text()
        print_json({"total": total, "tasks": tasks, "after": after, "now_ms": now})
    else:
        print_page(open_console(), tasks, total=total, following=following, now=now)
    return 0 if tasks or position else REFUSED


async def collect(inspector: Inspector, search: Search) -> tuple[list[Summary], Position | None]:
    """A full page where there is one: where little is found, the store is asked several times."""
    found, position = await inspector.search(search.filter, search.limit, search.after)
    for _ in range(MOST_LOOKS - 1):
        if position is None or len(found) == search.limit:
            break
        more, position = await inspector.search(search.filter, search.limit - len(found), position)
        found += more
    return found, position


def print_page(
    console: Console, tasks: Sequence[Mapping[str, Any]], *, total: int | None, following: Search | None, now: int
) -> None:
    """The table, with the count of all matches on top if it is known, and the command for the next page."""
    if total is not None:
        console.print(write(f"{total:,} task{'s' * (total != 1)}" if total else "No tasks"))
    if tasks:
        is_narrow = console.width < NARROW
        heads = HEADS_NARROW if is_narrow else HEADS
        rows = [_to_narrow_row(task, now) if is_narrow else _to_row(task, now) for task in tasks]
        console.print(make_table(heads, rows, wrapped=heads[-1]))
    elif following is not None:
        console.print("None on this page.")
    if following is not None:
        console.print(write(f"Next page: {write_command(following)}"), soft_wrap=True)


def write_command(search: Search) -> str:
    """The command that lists what ``search`` finds."""
    words = write_search(search)
    options = [part for name, text in words.items() for part in (f"--{name.replace('_', '-')}", text)]
    return shlex.join(["receiver", "tasks", "list", *options])


def _to_row(task: Mapping[str, Any], now: int) -> list[object]:
    attempt = f"{task['attempt'] or 0}/{task['max_attempts']}" if task["max_attempts"] else "-"
    times = (shorten(task["updated_at"]), show_age(task["updated_at_ms"], now))
    return [task["id"], write_status(task["status"]), name_tool(task), *times, attempt, clip(say(task), LONGEST)]


def _to_narrow_row(task: Mapping[str, Any], now: int) -> list[object]:
    said = clip(say(task), LONGEST)
    name = name_tool(task) if said == "-" else f"{name_tool(task)}: {said}"
    return [task["id"], write_status(task["status"]), show_age(task["updated_at_ms"], now), name]


def name_tool(task: Mapping[str, Any]) -> str:
    """What a task runs."""
    name = clip(task["tool"])
    return name if task["kind"] == "task" else f"{name} ({task['kind']})"


def say(task: Mapping[str, Any]) -> str:
    """What a task says of itself: why it failed, or how far it is."""
    parts = [_say_progress(task)] if task["status"] in ("working", "input_required") else []
    parts.append(task["status_message"] or "")
    parts.append("parked" if task["parked"] else "")
    return ", ".join(filter(None, parts)) or "-"


def _say_progress(task: Mapping[str, Any]) -> str:
    if task["progress"] is None:
        return ""
    total = "" if task["progress_total"] is None else f"/{task['progress_total']:g}"
    return f"{task['progress']:g}{total} {task['progress_message'] or ''}".strip()
