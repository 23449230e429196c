"""When a task was created and changed, and how often to ask."""

import asyncio
import itertools
from datetime import datetime

from ops.client.reply import Reply, expect, show
from ops.client.stream import Message
from ops.conform.check import NotApplicable, check
from ops.conform.server import FORM, Server
from ops.conform.session import LOOK_SECONDS, TERMINAL
from ops.conform.views import is_number, read_time, view_everywhere

ACCEPT = {"action": "accept", "content": {"answer": "blue"}}
ONE_SECOND = 1.1  # in which a clock that counts seconds moves on


@check("T-41 X-14", "MUST", "createdAt is in every answer that shows a task, in ISO 8601", tools=("sleep",))
async def created_at_everywhere(server: Server) -> None:
    for view in await view_everywhere(server):
        view.expect(read_time(view.task.get("createdAt")), "`createdAt`, a date and time in ISO 8601")


@check("T-42 X-14", "MUST", "lastUpdatedAt is in every answer that shows a task, in ISO 8601", tools=("sleep",))
async def last_updated_at_everywhere(server: Server) -> None:
    for view in await view_everywhere(server):
        view.expect(read_time(view.task.get("lastUpdatedAt")), "`lastUpdatedAt`, a date and time in ISO 8601")


@check("T-41", "MUST", "createdAt never changes", tools=("sleep",))
async def created_at_stays(server: Server) -> None:
    first, *later = await view_everywhere(server)
    created = read_time(first.task.get("createdAt"))
    for view in later:
        view.expect(read_time(view.task.get("createdAt")) == created, f"`createdAt` as at first, {created}")


@check("T-42", "MUST", "lastUpdatedAt moves on when the status changes", tools=("sleep",))
async def last_updated_at_moves(server: Server) -> None:
    session = await server.open()
    created = await session.call_task("sleep", {"seconds": 2})  # longer than a clock that counts seconds stands still
    before = _updated(created, created.task)
    ended = await session.wait_until(created.task_id, "completed", node=1)
    ended.expect(_updated(ended, ended.result) > before, f"`lastUpdatedAt` later than when it was working, {before}")


@check("T-42", "MUST", "reading a task does not move its lastUpdatedAt", tools=("sleep",))
async def reads_update_nothing(server: Server) -> None:
    session = await server.open()
    created = await session.call_task("sleep", {"seconds": 60})
    first = await session.get_task(created.task_id)
    await asyncio.sleep(ONE_SECOND)
    session.begin("tasks/result", {"taskId": created.task_id})
    for node in (1, 0, 1):
        again = await session.get_task(created.task_id, node)
        _expect_not_updated(again, first)


@check("T-42", "SHOULD", "progress does not move lastUpdatedAt", tools=("progress",))
async def progress_updates_nothing(server: Server) -> None:
    session = await server.open()
    created = await session.call_task("progress", {"steps": 300}, _meta={"progressToken": "steps"})
    first = await session.get_task(created.task_id)
    await session.start("GET", None).opened()  # it may come there; 405 will do
    session.begin("tasks/result", {"taskId": created.task_id})
    await session.hear("notifications/progress", where=_is_under_way)
    _expect_not_updated(await session.get_task(created.task_id, node=1), first)


@check("T-42", "MUST", "lastUpdatedAt never goes back, from node to node", tools=("elicit",))
async def last_updated_at_never_goes_back(server: Server) -> None:
    session = await server.open(FORM, answers={"elicitation/create": ACCEPT})
    created = await session.call_task("elicit", {"message": "Which colour?", "times": 2})
    session.begin("tasks/result", {"taskId": created.task_id})
    latest = _updated(created, created.task)
    for node in itertools.cycle((1, 0)):
        reply = await session.get_task(created.task_id, node)
        updated = _updated(reply, reply.result)
        reply.expect(updated >= latest, f"no `lastUpdatedAt` before {latest}, which an earlier answer said")
        latest = updated
        if reply.result.get("status") in TERMINAL:
            break
        await asyncio.sleep(LOOK_SECONDS)


@check("T-46", "MAY", "pollInterval is a whole number of milliseconds above 0", tools=("sleep",))
async def poll_interval_is_positive(server: Server) -> None:
    told = [view for view in await view_everywhere(server) if "pollInterval" in view.task]
    if not told:
        raise NotApplicable("the server tells no pollInterval")
    for view in told:
        interval = view.task["pollInterval"]
        fits = is_number(interval) and interval > 0 and interval == int(interval)
        view.expect(fits, "`pollInterval`, a whole number above 0")


def _updated(reply: Reply, task: dict[str, object]) -> datetime:
    time = read_time(task.get("lastUpdatedAt"))
    return time if time is not None else reply.fail("`lastUpdatedAt`, a date and time in ISO 8601")


def _is_under_way(message: Message) -> bool:
    progress = message.get("params", {}).get("progress")
    return is_number(progress) and progress > 10


def _expect_not_updated(again: Reply, first: Reply) -> None:
    task, before = again.result, first.result
    if (task.get("status"), task.get("statusMessage")) != (before.get("status"), before.get("statusMessage")):
        raise NotApplicable(f"the task changed by itself meanwhile: {show(before)} became {show(task)}")
    same = _updated(again, task) == _updated(first, before)
    expect(same, f"{first}\nand later {again}\nwanted: the same `lastUpdatedAt`, as the status did not change")
