"""``receiver top``: what each tool does just now."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table

from ops.commands.connection import Store
from ops.commands.listing import name_tool
from ops.commands.queues import describe_queues, draw_queues, survey_queues
from ops.render import make_table, open_console, print_json, show_duration, write
from receiver.protocol.lifecycle import STATUSES
from receiver.store.census import WorkerView
from receiver.store.inspect import MINUTE_MS, Survey
from receiver.store.tallies import Count, Tally, sum_up

REFRESH_SECONDS = 2.0
WINDOWS = (1, 5, 60)  # minutes

Snapshot = Mapping[str, Any]


async def show_throughput(store: Store, minutes: int, *, once: bool, as_json: bool) -> int:
    """Prints it once, or again and again until interrupted."""
    if as_json:
        return await _keep_printing(store, minutes, once=once)
    console = open_console()
    if once:
        console.print(draw(await take_snapshot(store, minutes), minutes))
        return 0
    with Live(console=console, screen=console.is_terminal, auto_refresh=False) as live:
        while True:
            live.update(draw(await take_snapshot(store, minutes), minutes), refresh=True)
            await asyncio.sleep(REFRESH_SECONDS)


async def take_snapshot(store: Store, minutes: int) -> dict[str, Any]:
    """All that is shown."""
    survey, workers = await survey_queues(store), await store.census.list_workers()
    tallies = await store.inspector.tallies(max(*WINDOWS, minutes) + 1)
    return describe(survey, tallies, minutes) | {
        "queues": describe_queues(survey),
        "workers": _describe_workers(workers),
        "now_ms": survey.now,
    }


def describe(survey: Survey, tallies: Sequence[Tally], minutes: int) -> dict[str, Any]:
    """Each label with what there is of it, and what happened in each window.

    A window is so many whole minutes, and what there is of the present one.
    """
    spans = dict.fromkeys((*WINDOWS, minutes))
    elapsed = max(0, survey.now - tallies[-1].begins) / 1000 if tallies else 0.0
    totals = {span: sum_up(tallies[-span - 1 :]) for span in spans}
    labels = sorted({*survey.counts, *(label for total in totals.values() for label in total)})
    tools = []
    for label in labels:
        kind, _, tool = label.partition(":")
        counts = survey.counts.get(label, dict.fromkeys(STATUSES, 0))
        windows = {
            str(span): _describe_count(total.get(label, Count()), elapsed + span * MINUTE_MS / 1000)
            for span, total in totals.items()
        }
        open_ = {"working": counts["working"], "input_required": counts["input_required"]}
        tools.append({"tool": tool, "kind": kind, **open_, "windows": windows})
    return {"tools": sorted(tools, key=_how_busy, reverse=True)}


def draw(snapshot: Snapshot, minutes: int) -> RenderableType:
    """The same for people: workers and queues on top, then a line for each tool."""
    workers = snapshot["workers"]
    head = f"Workers: {workers['live']}, {workers['running']} of {workers['slots']} slots in use"
    parts: list[RenderableType] = [write(head, "bold"), "", draw_queues(snapshot["queues"]), ""]
    return Group(*parts, draw_tools(snapshot["tools"], minutes))


def draw_tools(tools: Sequence[Mapping[str, Any]], minutes: int) -> Table:
    """A table of them; three numbers in a column are those of 1, 5 and 60 minutes."""
    rows = []
    for tool in tools:
        windows, span = tool["windows"], tool["windows"][str(minutes)]
        rates = [
            " ".join(f"{windows[str(n)][rate]:.2f}" for n in WINDOWS) for rate in ("created_rate", "finished_rate")
        ]
        failed = " ".join(str(windows[str(n)]["failed"]) for n in WINDOWS)
        times = [show_duration(span[time]) for time in ("mean_ms", "p50_ms", "p95_ms")]
        rows.append((name_tool(tool), f"{tool['working']:,}", f"{tool['input_required']:,}", *rates, failed, *times))
    heads = ["TOOL", "WORKING>", "ASKING>", "CREATED/S 1 5 60m>", "FINISHED/S>", "FAILED>"]
    return make_table([*heads, f"MEAN {minutes}m>", "P50>", "P95>"], rows)


async def _keep_printing(store: Store, minutes: int, *, once: bool) -> int:
    while True:
        print_json(await take_snapshot(store, minutes), is_line=True)
        if once:
            return 0
        await asyncio.sleep(REFRESH_SECONDS)


def _describe_count(count: Count, seconds: float) -> dict[str, Any]:
    return {
        "created": count.created,
        "finished": count.ended.total(),
        "failed": count.ended["failed"],
        "created_rate": round(count.created / seconds, 4),
        "finished_rate": round(count.ended.total() / seconds, 4),
        "mean_ms": count.mean,
        "p50_ms": count.percentile(0.5),
        "p95_ms": count.percentile(0.95),
    }


def _describe_workers(workers: Sequence[WorkerView]) -> dict[str, int]:
    live = [worker for worker in workers if worker.is_live]
    running, slots = sum(worker.running for worker in live), sum(worker.slots for worker in live)
    return {"live": len(live), "running": running, "slots": slots}


def _how_busy(tool: Mapping[str, Any]) -> tuple[Any, ...]:
    window = tool["windows"]["60"]
    return window["finished"] + window["created"], tool["working"] + tool["input_required"], tool["tool"]
