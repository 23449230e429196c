"""Event streams."""

from ops.conform.check import NotApplicable, check
from ops.conform.reply import expect
from ops.conform.server import Server


@check("H-09", "SHOULD", "a stream opens with an event that has an id and empty data", tools=("sleep",))
async def opens_with_priming(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 1})).task_id
    waiting = session.begin("tasks/result", {"taskId": task_id})
    reply = await waiting.reply()
    if not reply.is_stream:
        raise NotApplicable("tasks/result is answered without a stream")
    first = waiting.events[0]
    expect(first.id and first.data == "", f"{reply}\nfirst event: {first}\nwanted: an `id`, and empty `data`")


@check("L-04", "MUST", "ping is answered while a tasks/result is blocked", tools=("sleep",))
async def ping_meanwhile(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 30})).task_id
    session.begin("tasks/result", {"taskId": task_id})
    reply = await session.request("ping")
    reply.expect(reply.result == {}, "the result `{}`")
