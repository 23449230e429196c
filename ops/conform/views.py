"""The answers that show a task: CreateTaskResult, tasks/get, tasks/list and tasks/cancel."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeGuard

from ops.client.reply import Reply, show
from ops.client.violation import Violation
from ops.conform.server import Server
from ops.conform.session import Session

PAGES = 1000  # of tasks/list, at most


@dataclass(frozen=True)
class View:
    """``task``, as ``reply`` shows it."""

    reply: Reply
    task: Mapping[str, Any]

    def expect(self, holds: object, wanted: str) -> None:
        """A Violation that shows the task and where it was seen, unless ``holds`` is true."""
        self.reply.expect(holds, f"{wanted}, in {show(self.task)}")


async def view_everywhere(server: Server, *, ttl: int | None = None) -> list[View]:
    """One task in every answer that the server has for it, on both nodes: first as it is created, at last cancelled."""
    session = await server.open()
    created = await session.call_task("sleep", {"seconds": 60}, ttl=ttl)
    got = await session.get_task(created.task_id, node=1)
    views = [View(created, created.task), View(got, got.result)]
    if server.declares("tasks.list"):
        views.append(await find_in_list(session, created.task_id))
    if server.declares("tasks.cancel"):
        cancelled = await session.cancel_task(created.task_id, node=1)
        views.append(View(cancelled, cancelled.result))
    return views


async def find_in_list(session: Session, task_id: str, node: int = 0) -> View:
    """A task on its page of tasks/list; a Violation if it is on none."""
    async for view in walk_list(session, node):
        if view.task.get("taskId") == task_id:
            return view
    raise Violation(f"wanted: the task {task_id}, which is on no page of tasks/list")  # T-66


async def walk_list(session: Session, node: int = 0) -> AsyncIterator[View]:
    """All tasks, on all pages of tasks/list."""
    params: dict[str, Any] = {}
    for _ in range(PAGES):
        reply = await session.request("tasks/list", params, node)
        tasks = reply.result.get("tasks")
        for task in tasks if isinstance(tasks, list) else reply.fail("`tasks`, an array"):
            yield View(reply, task if isinstance(task, dict) else reply.fail("`tasks`, an array of objects"))
        if (cursor := reply.result.get("nextCursor")) is None:
            return
        params = {"cursor": cursor}


def read_time(value: object) -> datetime | None:
    """A date and time in ISO 8601; None for anything else."""
    if not isinstance(value, str) or "T" not in value:
        return None
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a JSON number."""
    return isinstance(value, int | float) and not isinstance(value, bool)
