"""What one session has to do with another."""

from ops.conform.check import NotApplicable, check
from ops.conform.server import Server


@check("X-15 T-48", "MUST", "that a session ends leaves others able to make tasks", tools=("echo",))
async def end_of_a_session_leaves_others(server: Server) -> None:
    staying, ending = await server.open(), await server.open(node=1)
    server.require("tasks.requests.tools.call")
    if ending.id is None or (await ending.send(verb="DELETE")).status == 405:
        raise NotApplicable("there is no session that a client can end")
    for node in (0, 1):
        reply = await staying.call_task("echo", {"text": "hello"}, node)
        reply.expect(reply.task_id, "a CreateTaskResult, as before the other session ended")
