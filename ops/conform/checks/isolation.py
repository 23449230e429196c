"""Whose a task is."""

from ops.conform.check import check
from ops.conform.server import Server


@check("T-85 T-89", "MUST", "nobody reads or cancels another's task", tools=("sleep",), needs=("token2",))
async def foreign_task_is_refused(server: Server) -> None:
    owner, other = await server.open(), await server.open(user=1)
    task_id = (await owner.call_task("sleep", {"seconds": 30})).task_id
    for method in ("tasks/get", "tasks/result", "tasks/cancel"):
        (await other.request(method, {"taskId": task_id}, node=1)).expect_error(-32602)
    mine = await owner.get_task(task_id)
    mine.expect(mine.result.get("status") == "working", "a task that others' requests leave as it is")
