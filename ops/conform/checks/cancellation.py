"""tasks/cancel."""

import asyncio
import secrets

from ops.client.reply import Reply, expect
from ops.conform.check import check
from ops.conform.checks.getting import without_pace
from ops.conform.server import FORM, Server
from ops.conform.session import Session


@check("T-67 T-78", "MUST", "to cancel a terminal task is an error, -32602", tools=("sleep",), needs=("tasks.cancel",))
async def terminal_is_refused(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 0})).task_id
    await session.wait_until(task_id, "completed")
    (await session.cancel_task(task_id)).expect_error(-32602)


@check("T-67 T-78", "MUST", "to cancel a failed task is an error, -32602", tools=("fail",), needs=("tasks.cancel",))
async def failed_is_refused(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("fail", {"text": "no"})).task_id
    await session.wait_until(task_id, "failed", "completed")
    (await session.cancel_task(task_id, node=1)).expect_error(-32602)


@check("T-67 T-78", "MUST", "to cancel a task twice is an error, -32602", tools=("sleep",), needs=("tasks.cancel",))
async def cancelled_is_refused(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 60})).task_id
    first = await session.cancel_task(task_id)
    first.expect(first.result.get("status") == "cancelled", "the task, with `status` `cancelled`")
    (await session.cancel_task(task_id, node=1)).expect_error(-32602)


@check("T-67 T-34", "MUST", "a cancel that is refused changes nothing", tools=("structured",), needs=("tasks.cancel",))
async def refused_cancel_changes_nothing(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("structured", {"text": "hello"})).task_id
    before = await session.wait_until(task_id, "completed")
    outcome = (await session.get_result(task_id)).result
    await session.cancel_task(task_id)
    after, later = await session.get_task(task_id, node=1), await session.get_result(task_id, node=1)
    same = without_pace(after.result) == without_pace(before.result)
    after.expect(same, f"the task as it was before tasks/cancel was refused: {before.result}")
    later.expect(later.result == outcome, f"the result as it was before tasks/cancel was refused: {outcome}")


@check(
    "T-69", "MUST", "a task is cancelled before the answer says so, on every node", tools=("sleep",),
    needs=("tasks.cancel",),
)  # fmt: skip
async def cancelled_at_once(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 60})).task_id
    reply = await session.cancel_task(task_id)
    reply.expect(reply.result.get("status") == "cancelled", "the task, with `status` `cancelled`")
    _expect_gone(await session.get_task(task_id, node=1))


@check("T-69", "MUST", "the answer to tasks/cancel is the task", tools=("sleep",), needs=("tasks.cancel",))
async def cancel_answers_with_the_task(server: Server) -> None:
    session = await server.open()
    created = (await session.call_task("sleep", {"seconds": 60})).task
    reply = await session.cancel_task(created["taskId"])
    for member in ("taskId", "createdAt", "ttl"):
        same = reply.result.get(member, "none") == created.get(member, "none")
        reply.expect(same, f"`{member}` as in the CreateTaskResult: {created.get(member)!r}")
    reply.expect(isinstance(reply.result.get("lastUpdatedAt"), str), "`lastUpdatedAt`")


@check("T-69", "MUST", "a task that has a question can be cancelled", tools=("elicit",), needs=("tasks.cancel",))
async def cancelled_while_it_asks(server: Server) -> None:
    session = await server.open(FORM)
    task_id = (await session.call_task("elicit", {"message": "Which?"})).task_id
    await session.wait_until(task_id, "input_required")
    reply = await session.cancel_task(task_id, node=1)
    reply.expect(reply.result.get("status") == "cancelled", "the task, with `status` `cancelled`")
    _expect_gone(await session.get_task(task_id))


@check("T-68", "SHOULD", "cancel stops the work", tools=("tick", "ticks"), needs=("tasks.cancel",))
async def cancel_stops_the_work(server: Server) -> None:
    session = await server.open()
    label = secrets.token_hex(8)
    task_id = (await session.call_task("tick", {"label": label, "ticks": 3000})).task_id
    seen = [0]

    async def has_begun() -> bool:
        return await _count(session, label) >= 2

    async def stands_still() -> bool:
        seen.append(await _count(session, label))
        return seen[-1] == seen[-2]

    await server.poll("tick to begin counting", has_begun)
    await session.cancel_task(task_id)
    await server.poll(f"tick to stop, since its task {task_id} was cancelled", stands_still, pause=1)  # ten ticks


@check(
    "T-70 T-34", "MUST", "a cancelled task stays so when its work ends", tools=("stubborn",), needs=("tasks.cancel",)
)
async def cancelled_whatever_comes(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("stubborn", {"seconds": 1})).task_id
    await asyncio.sleep(0.2)  # that it has begun: nothing hangs on it
    await session.cancel_task(task_id)
    # The same work once more, begun later: when it has ended, the other has.
    later = (await session.call_task("stubborn", {"seconds": 1.5})).task_id
    await session.wait_until(later, "completed")
    for node in (0, 1):
        _expect_gone(await session.get_task(task_id, node))
        result = await session.get_result(task_id, node)
        kept = "error" in (result.message or {}) or "slept" not in str(result.result.get("content"))
        result.expect(kept, "no outcome of the work: the task was cancelled before there was one")


# T-73 forbids it to clients; the create request is answered, and what is finished can't be cancelled (L-07).
@check("T-73 L-07", "SHOULD", "notifications/cancelled for the request that made a task leaves it", tools=("sleep",))
async def notification_cancels_no_task(server: Server) -> None:
    session = await server.open()
    reply = await session.call_task("sleep", {"seconds": 1})
    sent = reply.sent if isinstance(reply.sent, dict) else {}
    noticed = await session.notify("notifications/cancelled", {"requestId": sent["id"], "reason": "conform"}, node=1)
    noticed.expect_status(202)
    ended = await session.get_result(reply.task_id)
    task = await session.get_task(reply.task_id)
    expect(
        task.result.get("status") == "completed",
        f"{noticed}\n{ended}\n{task}\nwanted: the task goes on, and completes",
    )


def _expect_gone(task: Reply) -> None:
    """A Violation unless the task is cancelled, or deleted (T-71)."""
    message = task.message or {}
    error, result = message.get("error") or {}, message.get("result") or {}
    is_gone = error.get("code") == -32602 or result.get("status") == "cancelled"
    task.expect(is_gone, "`cancelled`, or -32602 for a task deleted")


async def _count(session: Session, label: str) -> int:
    """How far tick has come."""
    reply = await session.call("ticks", {"label": label})
    blocks = reply.result.get("content") or [{}]
    text = str(blocks[0].get("text"))
    reply.expect(text.isdecimal(), "a number as text")
    return int(text)
