"""``receiver tasks cancel``, ``retry`` and ``purge``."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from ops import report
from ops.admin.actions import DONE, REASONS, Action, Actions, Verdict, find_user
from ops.admin.bulk import Plan, Tally, carry_out, plan_filter, plan_ids, restrict
from ops.admin.filters import BadFilter, read_search
from ops.commands.connection import REFUSED, Store
from ops.render import clip, make_table, open_console, print_json
from receiver.telemetry.logs import configure_logs

SHOWN = 20  # tasks that are told of one by one

_WARNINGS: dict[Action, str] = {
    "cancel": "Their requestors are told.",
    "retry": "Each becomes a new task of its owner; the old one stays as it is.",
    "purge": 'Their requestors will get "not found" before the ttl that they were granted.',
}


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be done, as on the command line: to ``ids``, or to what ``words`` find, to ``most`` at most."""

    action: Action
    ids: Sequence[str]
    words: Mapping[str, str | Sequence[str]]
    most: int
    yes: bool = False
    dry_run: bool = False
    force: bool = False
    as_json: bool = False


@dataclass(slots=True)
class Outcome:
    """What came of an order."""

    tally: Tally
    verdicts: list[Verdict] = field(default_factory=list)


async def act(store: Store, order: Order) -> int:
    """Does it, after a question with the exact count."""
    if bool(order.ids) == bool(order.words):
        raise BadFilter("name tasks by their ids, or by a filter" + (", not by both" if order.ids else ""))
    plan, total = await _plan(store, order)
    if not plan.ids:
        report.complain(f"there is nothing to {order.action}")
        return REFUSED
    if order.dry_run:
        _print_plan(plan, total, order)
        return 0
    _confirm(plan, total, order)
    configure_logs(store.settings.log_format, store.settings.log_level)
    outcome = await _carry_out(plan, Actions(store.client, find_user()), order)
    if order.as_json:
        print_json(to_json(plan, outcome))
    else:
        print_outcome(open_console(), plan, outcome)
    done = outcome.tally.words[DONE[order.action]]
    return 0 if done == outcome.tally.total or (order.words and done) else REFUSED


def describe(plan: Plan, total: int | None) -> str:
    """What a plan does, with its count."""
    count = len(plan.ids)
    text = f"{plan.action.capitalize()} {count:,} task{'s' * (count != 1)}"
    if not plan.is_capped:
        return text
    return f"{text} of {total:,}" if total else f"{text}, and leave others that match"


def to_json(plan: Plan, outcome: Outcome) -> dict[str, Any]:
    """What came of a plan, for scripts."""
    tasks = [
        {"id": verdict.task_id, "verdict": verdict.word, "new_id": verdict.new_id, "reason": REASONS.get(verdict.word)}
        for verdict in outcome.verdicts
    ]
    sums = {"total": outcome.tally.total, "done": outcome.tally.words[DONE[plan.action]]}
    return {
        "action": plan.action,
        **sums,
        "capped": plan.is_capped,
        "verdicts": dict(outcome.tally.words),
        "tasks": tasks,
    }


def print_outcome(console: Console, plan: Plan, outcome: Outcome) -> None:
    """The same for people: each task if they are few, else sums."""
    if len(outcome.verdicts) <= SHOWN:
        rows = [
            (clip(found.task_id, 36), found.word, found.new_id or REASONS.get(found.word, ""))
            for found in outcome.verdicts
        ]
        console.print(make_table(["ID", "VERDICT", "NEW TASK, OR WHY NOT"], rows, wrapped="NEW TASK, OR WHY NOT"))
    sums = ", ".join(f"{count:,} {word}" for word, count in outcome.tally.words.most_common())
    console.print(f"{sums}{'; more match, ask again for them' * plan.is_capped}")


async def _plan(store: Store, order: Order) -> tuple[Plan, int | None]:
    """The plan, and how many there are in all, if that is known."""
    if order.ids:
        return plan_ids(order.action, order.ids, cap=order.most), len(set(order.ids))
    now = await store.read_time()
    filter = read_search(order.words, now).filter
    plan = await plan_filter(store.inspector, order.action, filter, now, cap=order.most)
    wanted = restrict(filter, order.action)
    total = await store.inspector.count(wanted) if plan.is_capped and wanted else len(plan.ids)
    return plan, total


def _confirm(plan: Plan, total: int | None, order: Order) -> None:
    if order.yes:
        return
    if not sys.stdin.isatty():
        raise BadFilter(f"{describe(plan, total).lower()}? there is no terminal to ask at: say --yes, or --dry-run")
    typer.echo(_WARNINGS[plan.action], err=True)
    typer.confirm(f"{describe(plan, total)}?", abort=True, err=True)


def _print_plan(plan: Plan, total: int | None, order: Order) -> None:
    if order.as_json:
        count = len(plan.ids)
        print_json({"action": plan.action, "dry_run": True, "count": count, "capped": plan.is_capped, "ids": plan.ids})
        return
    typer.echo(f"{describe(plan, total)}: nothing is done, since this is a dry run.")
    for task_id in plan.ids:
        typer.echo(task_id)


async def _carry_out(plan: Plan, actions: Actions, order: Order) -> Outcome:
    outcome = Outcome(Tally(len(plan.ids)))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    is_hidden = len(plan.ids) <= SHOWN or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=is_hidden) as progress:
        bar = progress.add_task(plan.action, total=len(plan.ids))
        async for tally in carry_out(plan, actions, force=order.force):
            outcome.tally = tally
            outcome.verdicts += tally.latest
            progress.update(bar, completed=tally.done)
    return outcome
