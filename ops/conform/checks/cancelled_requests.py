"""notifications/cancelled, from whatever node."""

import asyncio
import uuid

from ops.client.exchange import Exchange
from ops.client.reply import expect, show
from ops.conform.check import check
from ops.conform.checks.streams import TICKS, count, count_until
from ops.conform.server import Server
from ops.conform.session import LOOK_SECONDS, Session

LONG = 10 * TICKS  # for a call that does not end by itself while it is watched
SOON = 2 * TICKS
YARDSTICK = 5  # ticks, in which a call that was stopped does not count on


@check("L-07", "SHOULD", "a tasks/result that was cancelled ends without a response", tools=("sleep",))
async def cancelled_wait_ends(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 60})).task_id
    waiting = session.begin("tasks/result", {"taskId": task_id}, resumes=False)
    await _cancel(session, waiting)
    expect(waiting.answer is None, f"came: {show(waiting.answer)}\nwanted: no response to a request that was cancelled")


@check("L-07 T-73", "MUST", "a task goes on whose tasks/result was cancelled", tools=("sleep",))
async def task_goes_on_uncancelled(server: Server) -> None:
    session = await server.open()
    created = session.begin("tools/call", session.call_params("sleep", {"seconds": 2}, task={}))
    task_id = (await created.reply()).task_id
    server.tasks.append((session, task_id))
    waiting = session.begin("tasks/result", {"taskId": task_id}, resumes=False)
    for exchange in (created, waiting):
        await _send_cancelled(session, exchange, node=1)
    await session.wait_until(task_id, "completed")


@check("L-07", "SHOULD", "a plain call that was cancelled stops", tools=("tick", "ticks"))
async def cancelled_call_stops(server: Server) -> None:
    session = await server.open()
    label, yardstick = uuid.uuid4().hex, uuid.uuid4().hex
    call = session.begin("tools/call", session.call_params("tick", {"label": label, "ticks": LONG}), resumes=False)
    await count_until(session, label, 1)
    await _send_cancelled(session, call, node=1)
    before, cancelled_at = -1, await count(session, label)
    with server.waiting("tick to stop"):
        while (now := await count(session, label)) != before:
            wanted = f"a call that stops when it is cancelled, here at {cancelled_at}"
            is_late = now > cancelled_at + SOON
            expect(not is_late, f"tick went on to {now} behind notifications/cancelled\nwanted: {wanted}")
            before = now
            await session.call("tick", {"label": yardstick, "ticks": YARDSTICK})


@check("L-07", "SHOULD", "a plain call that was cancelled has no response", tools=("tick", "ticks"))
async def cancelled_call_is_not_answered(server: Server) -> None:
    session = await server.open()
    label = uuid.uuid4().hex
    call = session.begin("tools/call", session.call_params("tick", {"label": label, "ticks": TICKS}), resumes=False)
    await count_until(session, label, 1)
    await _cancel(session, call)
    expect(call.answer is None, f"came: {show(call.answer)}\nwanted: no response to a request that was cancelled")


@check("L-07", "SHOULD", "a cancellation of what is unknown, over, or malformed is ignored", tools=("sleep",))
async def cancelled_in_vain(server: Server) -> None:
    session = await server.open()
    finished = await session.request("ping")
    task_id = (await session.call_task("sleep", {"seconds": 1})).task_id
    waiting = session.begin("tasks/result", {"taskId": task_id})
    over = finished.sent.get("id") if isinstance(finished.sent, dict) else None
    for number, params in enumerate(({"requestId": "never-sent"}, {"requestId": over}, {"requestId": None}, {}, None)):
        reply = await session.notify("notifications/cancelled", params, node=number % 2)
        reply.expect(reply.status < 500, "HTTP status 202, and no effect")
        (await session.request("ping", node=number % 2)).expect_status(200)
    reply = await waiting.reply()
    reply.expect(reply.message is not None, "the response to a request that nobody cancelled")


@check("L-07", "SHOULD", "a session cancels its own requests, and not another's with the same id", tools=("sleep",))
async def cancelled_by_another_session(server: Server) -> None:
    session, other = await server.open(), await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 2})).task_id
    frame = {"jsonrpc": "2.0", "id": "l07", "method": "tasks/result", "params": {"taskId": task_id}}
    waiting = session.start("POST", frame, resumes=True)
    for node in (0, 1, 0, 1):
        await _send_cancelled(other, waiting, node)
        await session.get_task(task_id, node)  # time for the request to arrive
    reply = await waiting.reply()
    reply.expect(reply.message is not None, "the response: the request with this id was cancelled in another session")


async def _send_cancelled(session: Session, exchange: Exchange, node: int) -> None:
    id = exchange.sent.get("id") if isinstance(exchange.sent, dict) else None
    await session.notify("notifications/cancelled", {"requestId": id, "reason": "no longer wanted"}, node)


async def _cancel(session: Session, exchange: Exchange) -> None:
    """Returns when the request is over.  It is cancelled again and again, for the first may have come before it."""
    pause = LOOK_SECONDS
    with session.server.waiting(f"the end of {exchange.label}, which was cancelled"):
        while not exchange.ended:
            await _send_cancelled(session, exchange, node=1)
            await asyncio.sleep(pause)
            pause = min(2 * pause, 1)
