"""tasks/cancel."""

from ops.conform.check import check
from ops.conform.server import Server


@check("T-67 T-78", "MUST", "to cancel a terminal task is an error, -32602", tools=("sleep",), needs=("tasks.cancel",))
async def terminal_is_refused(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 0})).task_id
    await session.wait_until(task_id, "completed")
    (await session.cancel_task(task_id)).expect_error(-32602)


@check(
    "T-69", "MUST", "a task is cancelled before the answer says so, on every node", tools=("sleep",),
    needs=("tasks.cancel",),
)  # fmt: skip
async def cancelled_at_once(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 60})).task_id
    reply = await session.cancel_task(task_id)
    reply.expect(reply.result.get("status") == "cancelled", "the task, with `status` `cancelled`")
    later = await session.get_task(task_id, node=1)
    later.expect(later.message is not None and _is_gone(later.message), "`cancelled`, or -32602 for a task deleted")


def _is_gone(answer: dict[str, dict[str, object]]) -> bool:
    if "error" in answer:
        return answer["error"].get("code") == -32602  # T-71
    return answer["result"].get("status") == "cancelled"
