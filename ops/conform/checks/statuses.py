"""The life of a task: which statuses there are, and that the last one is the last."""

import asyncio
import itertools
from contextlib import suppress
from typing import Any

from ops.client.reply import Reply, expect, show
from ops.conform.check import NotApplicable, check
from ops.conform.server import FORM, Server
from ops.conform.session import LOOK_SECONDS, TERMINAL, Session
from ops.conform.views import is_number, read_time

STATUSES = ("working", "input_required", *TERMINAL)
ACCEPT = {"action": "accept", "content": {"answer": "blue"}}
QUESTION = {"message": "Which colour?"}
RACES = 8


@check("T-32", "MUST", "a task that works is working, or at its end", tools=("sleep", "fail"))
async def statuses_of_work(server: Server) -> None:
    session = await server.open()
    for role, arguments in (("sleep", {"seconds": 0.5}), ("fail", {"text": "no"})):
        task_id = (await session.call_task(role, arguments)).task_id
        for reply in await _watch(session, task_id):
            fits = reply.result.get("status") in ("working", "completed", "failed")
            reply.expect(fits, "`status`: `working`, and then `completed` or `failed`; it asked for nothing")


@check("T-33", "MUST", "a task that asks has the statuses of the specification, and ends", tools=("elicit",))
async def statuses_of_questions(server: Server) -> None:
    session = await server.open(FORM, answers={"elicitation/create": ACCEPT})
    task_id = (await session.call_task("elicit", {**QUESTION, "times": 2})).task_id
    session.begin("tasks/result", {"taskId": task_id}, node=1)
    *_, last = await _watch(session, task_id)
    last.expect(last.result.get("status") == "completed", "`completed`, in the end")


@check("T-34", "MUST", "a terminal status is there on every node, and stays", tools=("sleep",))
async def terminal_on_every_node(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 0.5})).task_id
    ended = await session.wait_until(task_id, "completed")
    for node in (1, 0, 1, 1, 0):
        _expect_same(await session.get_task(task_id, node), ended)


@check("T-34 T-67", "MUST", "a cancel that comes too late changes nothing", tools=("echo",), needs=("tasks.cancel",))
async def late_cancel_changes_nothing(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("echo", {"text": "hello"})).task_id
    ended = await session.wait_until(task_id, "completed")
    outcome = await session.get_result(task_id)
    await session.cancel_task(task_id, node=1)
    for node in (0, 1):
        _expect_same(await session.get_task(task_id, node), ended)
        again = await session.get_result(task_id, node)
        again.expect(again.result == outcome.result, f"the result as before, {show(outcome.result)}")


@check("T-34", "MUST", "an answer that comes too late changes nothing", tools=("elicit",), needs=("tasks.cancel",))
async def late_answer_changes_nothing(server: Server) -> None:
    session = await server.open(FORM)
    task_id = (await session.call_task("elicit", QUESTION)).task_id
    session.begin("tasks/result", {"taskId": task_id})
    asked = (await session.hear("elicitation/create")).message
    await session.cancel_task(task_id)
    cancelled = await _get_if_kept(session, task_id)
    await session.answer(asked, ACCEPT, node=1)
    for _ in range(5):  # whoever takes it needs a moment
        await asyncio.sleep(LOOK_SECONDS)
        _expect_same(await _get_if_kept(session, task_id, node=1), cancelled)


@check(
    "T-34 X-11 T-67", "MUST", "a cancel and an end that meet leave one of them", tools=("sleep",),
    needs=("tasks.cancel",),
)  # fmt: skip
async def cancel_meets_the_end(server: Server) -> None:
    session = await server.open()
    for race in range(RACES):
        task_id = (await session.call_task("sleep", {"seconds": race * 0.01})).task_id
        reply = await session.cancel_task(task_id, node=1)
        was_cancelled = reply.message is not None and "error" not in reply.message
        wanted = ("cancelled",) if was_cancelled else ("completed", "failed")
        for node in (0, 1, 0):
            task = await _get_if_kept(session, task_id, node)
            status = task.result.get("status")
            expect(
                status in wanted, f"{reply}\nand then {task}\nwanted: `status` {' or '.join(wanted)}, now and for good"
            )


@check("T-23", "MAY", "a status notification shows the whole task", tools=("status",))
async def notification_shows_the_task(server: Server) -> None:
    session = await server.open()
    with suppress(NotApplicable):  # they may come with tasks/result as well
        await session.listen()
    created = await session.call_task("status", {"message": "half way", "seconds": 1})
    await session.get_result(created.task_id, node=1)
    heard = [one.message for one in session.heard_of("notifications/tasks/status")]
    if not heard:
        raise NotApplicable("the server sends no status notifications")
    for message in heard:
        expect(
            _is_task(message.get("params"), created.task),
            f"came: {show(message)}\nwanted: params with taskId {created.task_id}, its createdAt and its ttl, "
            "a status, and lastUpdatedAt in ISO 8601",
        )


async def _watch(session: Session, task_id: str) -> list[Reply]:
    """What tasks/get says, on one node and the other in turn, until the task is at its end."""
    seen: list[Reply] = []
    with session.server.waiting(f"the end of task {task_id}"):
        for node in itertools.cycle((0, 1)):
            reply = await session.get_task(task_id, node)
            reply.expect(reply.result.get("status") in STATUSES, f"`status`, one of {', '.join(STATUSES)}")
            seen.append(reply)
            if reply.result["status"] in TERMINAL:
                break
            await asyncio.sleep(LOOK_SECONDS)
    return seen


async def _get_if_kept(session: Session, task_id: str, node: int = 0) -> Reply:
    reply = await session.get_task(task_id, node)
    if reply.message is not None and "error" in reply.message:
        reply.expect_error(-32602)  # T-76: and nothing else is one that was deleted
        raise NotApplicable("the server deletes cancelled tasks, as it may")  # T-71
    return reply


def _expect_same(reply: Reply, before: Reply) -> None:
    for name in ("status", "statusMessage", "lastUpdatedAt"):
        wanted = f"`{name}` as before, {show(before.result)}"
        reply.expect(reply.result.get(name) == before.result.get(name), wanted)


def _is_task(params: Any, created: dict[str, Any]) -> bool:
    return (
        isinstance(params, dict)
        and params.get("taskId") == created["taskId"]
        and params.get("status") in STATUSES
        and params.get("createdAt") == created.get("createdAt")
        and read_time(params.get("lastUpdatedAt")) is not None
        and "ttl" in params
        and (params["ttl"] is None or is_number(params["ttl"]))
    )
