"""What operators order by a request: which action, on which tasks, in whose name."""

import time
from collections.abc import Mapping, Sequence
from typing import cast, get_args

from starlette.requests import Request

from ops.admin.actions import CANCELLED, Action, Actions, Verdict
from ops.admin.bulk import CAP, Plan, plan_filter, plan_ids
from ops.admin.desk import Desk
from ops.admin.filters import NAMES, BadFilter, read_search
from ops.admin.gate import Denial, Entry
from ops.admin.jobs import Job, TooManyJobs
from ops.admin.roles import Visitor

LONGEST_MESSAGE = 500
YES = ("1", "true", "on", "yes")


def find_action(name: str) -> Action:
    """The action of this name; 404 for any other."""
    if name not in get_args(Action):
        raise Denial(404, f"There is no such action; there are {', '.join(get_args(Action))}")
    return cast(Action, name)


async def act(desk: Desk, request: Request, action: Action, task_id: str) -> Verdict:
    """Does it to one task, with the ``message`` or the ``force`` of the request's form."""
    entry, actions = entry_of(request), _actions_of(desk, request)
    if action == "cancel":
        return await actions.cancel(task_id, entry.value("message").strip()[:LONGEST_MESSAGE] or CANCELLED)
    if action == "retry":
        return await actions.retry(task_id, force=is_set(entry, "force"))
    return (await actions.purge([task_id]))[0]


async def plan(desk: Desk, request: Request, action: Action, ids: Sequence[str] | None) -> Plan:
    """A plan for tasks with these ids; for None, for the newest that the filter in the form finds.

    The filter finds tasks as they were at its ``frozen_at``.  400 for one that can't be read.
    """
    if ids is not None:
        return plan_ids(action, ids)
    form = entry_of(request).form
    words: Mapping[str, list[str]] = {
        name: form[name] for name in NAMES if name in form and name not in ("limit", "after")
    }
    given = entry_of(request).value("frozen_at")
    is_time = given.isascii() and given.isdigit() and len(given) < 16
    frozen_at = int(given) if is_time else round(time.time() * 1000)
    try:
        filter = read_search(words, frozen_at).filter
    except BadFilter as error:
        raise Denial(400, str(error)) from None
    return await plan_filter(desk.inspector, action, filter, frozen_at, cap=CAP)


def start(desk: Desk, request: Request, plan: Plan) -> Job:
    """Begins to carry out a plan; 503 where too many are under way."""
    entry, actions = entry_of(request), _actions_of(desk, request)
    try:
        return desk.jobs.start(plan, visitor_of(request).name, actions, force=is_set(entry, "force"))
    except TooManyJobs:
        raise Denial(503, "Too many bulk actions are under way here; try again when one is over") from None


def entry_of(request: Request) -> Entry:
    """What the gate knows of a request."""
    entry: Entry = request.state.entry
    return entry


def is_set(entry: Entry, name: str) -> bool:
    """Whether the form says yes to ``name``."""
    return entry.value(name).lower() in YES


def visitor_of(request: Request) -> Visitor:
    """Who asks: the gate let nobody else in."""
    visitor = entry_of(request).visitor
    if visitor is None:
        raise Denial(401, "Who are you?")
    return visitor


def _actions_of(desk: Desk, request: Request) -> Actions:
    return desk.actions_of(visitor_of(request).name, request.client.host if request.client else "")
