"""How a request says which task it means."""

from typing import Any

from ops.conform.check import check
from ops.conform.checks.results import RELATED_TASK
from ops.conform.server import Server

MALFORMED: list[dict[str, Any] | None] = [
    None,
    {},
    {"taskId": None},
    {"taskId": ""},
    {"taskId": 5},
    {"taskId": True},
    {"taskId": ["task"]},
    {"taskId": {"taskId": "task"}},
    {"taskId": "x" * 10_000},
    {"taskId": "no-such\u0000task"},
]


@check("T-55 T-57", "MUST", "tasks/get and tasks/result look at params.taskId, not at _meta", tools=("sleep", "echo"))
async def meta_does_not_change_what_is_read(server: Server) -> None:
    session = await server.open()
    open_id = (await session.call_task("sleep", {"seconds": 60})).task_id
    ended_id = (await session.call_task("echo", {"text": "hello"})).task_id
    for meant, named in ((open_id, ended_id), (ended_id, open_id), (open_id, "no-such-task")):
        reply = await session.request("tasks/get", _naming(meant, named), node=1)
        reply.expect(reply.result.get("taskId") == meant, f"the task {meant}, which params.taskId names")
    result = await session.request("tasks/result", _naming(ended_id, open_id))
    related = (result.result.get("_meta") or {}).get(RELATED_TASK) or {}
    result.expect(related.get("taskId") != open_id, f"the result of {ended_id}, which params.taskId names")


@check(
    "T-55 T-57", "MUST", "tasks/cancel looks at params.taskId, not at _meta", tools=("sleep",), needs=("tasks.cancel",)
)
async def meta_does_not_change_what_is_cancelled(server: Server) -> None:
    session = await server.open()
    meant, named = [(await session.call_task("sleep", {"seconds": 60})).task_id for _ in range(2)]
    reply = await session.request("tasks/cancel", _naming(meant, named))
    reply.expect(reply.result.get("taskId") == meant, f"the task {meant}, which params.taskId names")
    other = await session.get_task(named)
    other.expect(other.result.get("status") == "working", f"`working`: tasks/cancel named {named} in _meta alone")


@check("T-76 T-57", "MUST", "related-task in _meta does not stand for a taskId that is missing", tools=("sleep",))
async def meta_does_not_name_a_task(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 60})).task_id
    for method in task_methods(server):
        (await session.request(method, {"_meta": {RELATED_TASK: {"taskId": task_id}}})).expect_error(-32602)
    task = await session.get_task(task_id)
    task.expect(task.result.get("status") == "working", "`working`: no request named it in params.taskId")


@check("T-76", "MUST", "a taskId that can't be one is refused with -32602", needs=("tasks",))
async def malformed_task_ids(server: Server) -> None:
    session = await server.open()
    for method in task_methods(server):
        for params in MALFORMED:
            (await session.request(method, params)).expect_error(-32602)


def task_methods(server: Server) -> list[str]:
    """The methods that take a taskId."""
    return ["tasks/get", "tasks/result", *(["tasks/cancel"] if server.declares("tasks.cancel") else [])]


def _naming(meant: str, named: str) -> dict[str, Any]:
    return {"taskId": meant, "_meta": {RELATED_TASK: {"taskId": named}}}
