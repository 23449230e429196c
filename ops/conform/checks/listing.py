"""tasks/list."""

import asyncio
from typing import Any

from ops.client.reply import Reply, expect
from ops.conform.check import NotApplicable, check
from ops.conform.server import Server
from ops.conform.session import Session

CREATED_MOST = 120  # to fill a page
AT_ONCE = 10
PAGES_MOST = 500
NEVER_GIVEN: list[Any] = ["no-such-cursor", "", "bm8tc3VjaC1jdXJzb3I=", "\u00e4\u0000", "x" * 10_000, 5, True, [], {}]


@check("T-63 T-64", "MUST", "the pages hold every task, each once", tools=("echo",), needs=("tasks.list",))
async def pages_hold_all_tasks(server: Server) -> None:
    session = await server.open()
    created = await fill_a_page(session)
    listed = [str(task.get("taskId")) for task in await list_all(session, node=1)]
    _expect_each_once(created, listed)


@check("T-64", "MUST", "no task is lost between pages while others are created", tools=("echo",), needs=("tasks.list",))
async def pages_hold_while_tasks_are_created(server: Server) -> None:
    session = await server.open()
    created = await fill_a_page(session)
    page = await session.request("tasks/list")
    listed = _ids(page)
    while (cursor := page.result.get("nextCursor")) is not None and not set(created) <= set(listed):
        for _ in range(2):
            await session.call_task("echo", {"text": "meanwhile"})
        page = await session.request("tasks/list", {"cursor": cursor}, node=1)
        listed += _ids(page)
    _expect_each_once(created, listed)


@check("T-64", "MUST", "nextCursor is a string while there is more, then absent", needs=("tasks.list",))
async def next_cursor_is_absent_at_the_end(server: Server) -> None:
    session = await server.open()
    seen: set[str] = set()
    page = await session.request("tasks/list")
    while "nextCursor" in page.result:
        cursor: Any = page.result["nextCursor"]
        page.expect(isinstance(cursor, str), "a string as nextCursor; none on the last page")
        page.expect(cursor not in seen, "another nextCursor on each page: with this one the walk has no end")
        seen.add(cursor)
        page = await session.request("tasks/list", {"cursor": cursor})
    page.expect(isinstance(page.result.get("tasks"), list), "a list of tasks on each page")


@check("T-66", "MUST", "a task is listed from the moment it is created", tools=("sleep",), needs=("tasks.list",))
async def listed_when_created(server: Server) -> None:
    session = await server.open()
    for node in (0, 1, 0):
        task_id = (await session.call_task("sleep", {"seconds": 60}, node)).task_id
        await _expect_listed(session, await session.get_task(task_id), 1 - node)


@check(
    "T-66", "MUST", "a task that has ended is listed as long as it can be got", tools=("sleep", "fail"),
    needs=("tasks.list",),
)  # fmt: skip
async def listed_when_ended(server: Server) -> None:
    session = await server.open()
    ended = [await session.call_task("sleep", {"seconds": 0}), await session.call_task("fail", {"text": "no"})]
    for reply in ended:
        task = await session.wait_until(reply.task_id, "completed", "failed")
        await _expect_listed(session, task, 1)
    if server.declares("tasks.cancel"):
        task_id = (await session.call_task("sleep", {"seconds": 60})).task_id
        await session.cancel_task(task_id)
        task = await session.get_task(task_id)
        if task.message is not None and "error" not in task.message:  # T-71
            await _expect_listed(session, task, 1)


@check("T-66", "MUST", "a task that has a question is listed", tools=("elicit",), needs=("tasks.list",))
async def listed_when_input_is_required(server: Server) -> None:
    session = await server.open({"elicitation": {"form": {}}})
    task_id = (await session.call_task("elicit", {"message": "Which?"})).task_id
    await _expect_listed(session, await session.wait_until(task_id, "input_required"), 1)


@check("T-77", "MUST", "a cursor that the server never gave is refused with -32602", needs=("tasks.list",))
async def bad_cursors(server: Server) -> None:
    session = await server.open()
    for cursor in NEVER_GIVEN:
        (await session.request("tasks/list", {"cursor": cursor})).expect_error(-32602)


async def list_all(session: Session, node: int = 0) -> list[dict[str, Any]]:
    """The tasks of all pages."""
    tasks: list[dict[str, Any]] = []
    params: dict[str, Any] = {}
    for _ in range(PAGES_MOST):
        page = await session.request("tasks/list", params, node)
        page.expect(isinstance(page.result.get("tasks"), list), "a list of tasks on each page")
        tasks += page.result["tasks"]
        if "nextCursor" not in page.result:
            return tasks
        params = {"cursor": page.result["nextCursor"]}
    page.fail(f"an end of tasks/list within {PAGES_MOST} pages")


async def fill_a_page(session: Session) -> list[str]:
    """The ids of new tasks, more than are on a page; NotApplicable if there is no second page."""
    created: list[str] = []
    while len(created) < CREATED_MOST:
        replies = await asyncio.gather(*(session.call_task("echo", {"text": "hello"}) for _ in range(AT_ONCE)))
        created += [reply.task_id for reply in replies]
        page = await session.request("tasks/list")
        if page.result.get("nextCursor") is not None and not set(created) <= set(_ids(page)):
            return created
    raise NotApplicable(f"{CREATED_MOST} new tasks are on one page")


async def _expect_listed(session: Session, task: Reply, node: int) -> None:
    listed = await list_all(session, node)
    mine = [one for one in listed if one.get("taskId") == task.result.get("taskId")]
    statuses = [one.get("status") for one in mine]
    task.expect(
        statuses == [task.result.get("status")],
        f"the same task once in tasks/list, with this status; it is there with the statuses {statuses}",
    )


def _expect_each_once(created: list[str], listed: list[str]) -> None:
    lost = [task_id for task_id in created if task_id not in listed]
    twice = sorted({task_id for task_id in listed if listed.count(task_id) > 1})
    expect(not lost, f"{len(created)} tasks were created\n{len(lost)} of them are on no page: {lost[:5]}")
    expect(not twice, f"{len(listed)} tasks are on the pages\n{len(twice)} of them more than once: {twice[:5]}")


def _ids(page: Reply) -> list[str]:
    return [str(task.get("taskId")) for task in page.result.get("tasks") or []]
