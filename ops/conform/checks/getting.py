"""tasks/get."""

from typing import Any

from ops.conform.check import check
from ops.conform.server import Server


@check("T-36", "SHOULD", "tasks/get is answered without an event stream", tools=("sleep",))
async def get_without_stream(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 30})).task_id
    reply = await session.get_task(task_id)
    reply.expect(not reply.is_stream, f"Content-Type: application/json, not {reply.headers.get('content-type')}")


@check("T-76", "MUST", "an unknown taskId is refused by tasks/get, tasks/result and tasks/cancel with -32602")
async def unknown_task(server: Server) -> None:
    server.require("tasks")
    session = await server.open()
    methods = ["tasks/get", "tasks/result", *(["tasks/cancel"] if server.declares("tasks.cancel") else [])]
    for method in methods:
        (await session.request(method, {"taskId": "no-such-task"})).expect_error(-32602)


def without_pace(task: dict[str, Any]) -> dict[str, Any]:
    """A task as it is but for its pollInterval, which a server may change at any time."""
    return {name: value for name, value in task.items() if name != "pollInterval"}
