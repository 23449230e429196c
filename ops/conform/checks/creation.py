"""What creates a task, and what comes back."""

from ops.conform.check import check
from ops.conform.server import Server


@check("T-31", "MUST", "a task begins as working", tools=("echo",))
async def begins_as_working(server: Server) -> None:
    session = await server.open()
    reply = await session.call_task("echo", {"text": "hello"})
    reply.expect(reply.task.get("status") == "working", "`status` is `working`, however little there is to do")


@check("T-14 T-48", "MUST", "a task-augmented call is answered with a CreateTaskResult alone", tools=("echo",))
async def create_task_result(server: Server) -> None:
    session = await server.open()
    reply = await session.call_task("echo", {"text": "hello"})
    reply.expect(reply.task and "content" not in reply.result, "`task`, and no part of the tool's result")
