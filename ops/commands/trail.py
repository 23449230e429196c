"""``receiver audit tail``."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ops.admin.filters import BadFilter, to_iso
from ops.commands.connection import REFUSED, Store
from ops.render import make_table, open_console, print_json, write
from receiver import __version__
from receiver.store.audit import AuditTrail, Wanted
from receiver.telemetry.audit import Entry
from receiver.telemetry.ocsf import to_ocsf

Form = Literal["table", "json", "ocsf"]

OUTCOMES = ("success", "failure", "denied")
WHAT = "WHAT, AND BY WHOM"
STYLES = {"failure": "yellow", "denied": "bold red"}


async def tail(
    store: Store, words: Mapping[str, str], limit: int, before: str | None, form: Form, *, follow: bool
) -> int:
    """Prints the last events, and with ``follow`` those that come, for ever."""
    if words.get("outcome", "success") not in OUTCOMES:
        raise BadFilter(f"an outcome is one of {', '.join(OUTCOMES)}")
    trail, wanted = AuditTrail(store.client), Wanted(**words)
    last = (await trail.page(limit=1)).entries
    try:
        page = await trail.page(before, limit, wanted)
    except ValueError as error:
        raise BadFilter(str(error)) from None
    entries, console = list(reversed(page.entries)), open_console()
    print_entries(console, entries, form)
    if form == "table" and page.before and not follow:
        options = " ".join(f"--{name} {shlex.quote(word)}" for name, word in words.items())
        console.print(write(f"Earlier ones: receiver audit tail --limit {limit} --before {page.before} {options}"))
    if follow:
        shown = {entry.id for entry in entries}
        async for entry in trail.follow(last[0].id if last else "0-0", wanted):
            if entry.id not in shown:
                print_entries(console, [entry], form, with_head=False)
    return 0 if entries else REFUSED


def print_entries(console: Console, entries: Sequence[Entry], form: Form, *, with_head: bool = True) -> None:
    """Prints events as a table, or a line of JSON each."""
    if form == "table":
        console.print(draw_entries(entries, with_head=with_head) if entries else "No events.")
        return
    for entry in entries:
        print_json(to_ocsf(entry, __version__) if form == "ocsf" else to_json(entry), is_line=True)


def to_json(entry: Entry) -> dict[str, Any]:
    """An event as scripts get it."""
    head = {"id": entry.id, "time": to_iso(entry.time), "time_ms": entry.time, "times": entry.times}
    return head | entry.event._asdict()


def draw_entries(entries: Sequence[Entry], *, with_head: bool = True) -> Table:
    """A table of them, that 80 columns are enough for."""
    rows = [(show_second(entry.time), entry.event.task, write_event(entry)) for entry in entries]
    table = make_table(["TIME", "TASK", WHAT], rows, wrapped=WHAT)
    table.show_header = with_head
    return table


def write_event(entry: Entry) -> Text:
    """What was done, how it went, and by whom."""
    event = entry.event
    text = write(event.operation).append(" ").append(write(event.outcome, STYLES.get(event.outcome, "")))
    if event.detail and event.detail != event.outcome:
        text.append(write(f" ({event.detail})"))
    text.append(write(f", {event.by} {event.who}".rstrip()))
    if event.address:
        text.append(write(f" at {event.address}"))
    return text.append(write(f", {entry.times} times")) if entry.times > 1 else text


def show_second(ms: int) -> str:
    """A time to the second: ISO 8601, UTC."""
    return f"{to_iso(ms)[:19]}Z"
