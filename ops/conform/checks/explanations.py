"""statusMessage."""

from ops.conform.check import NotApplicable, check
from ops.conform.server import Server
from ops.conform.session import TERMINAL

HALFWAY = "Halfway there"


@check("T-106", "MAY", "the statusMessage that the work sets is shown while it works", tools=("status",))
async def status_message_while_working(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("status", {"message": HALFWAY, "seconds": 20})).task_id

    async def is_shown() -> bool:
        reply = await session.get_task(task_id, node=1)
        reply.expect(reply.result.get("status") not in TERMINAL, f"the statusMessage {HALFWAY!r} before the end")
        return bool(reply.result.get("statusMessage") == HALFWAY)

    await server.poll(f"the statusMessage {HALFWAY!r}", is_shown)
    reply = await session.get_task(task_id)
    reply.expect(reply.result.get("status") == "working", "`working`, whatever the statusMessage")


@check("T-106", "MUST", "a statusMessage is a string, in every status", tools=("sleep", "fail", "status"))
async def status_message_is_text(server: Server) -> None:
    session = await server.open()
    ended = [await session.call_task("sleep", {"seconds": 0}), await session.call_task("fail", {"text": "no"})]
    replies = [await session.wait_until(reply.task_id, "completed", "failed") for reply in ended]
    task_id = (await session.call_task("status", {"message": "on it", "seconds": 60})).task_id
    replies.append(await session.get_task(task_id))
    if server.declares("tasks.cancel"):
        replies.append(await session.cancel_task(task_id))
    told = [reply for reply in replies if "statusMessage" in reply.result]
    for reply in told:
        reply.expect(isinstance(reply.result["statusMessage"], str), "a string as statusMessage, or none")
    if not told:
        raise NotApplicable("no task has a statusMessage")
