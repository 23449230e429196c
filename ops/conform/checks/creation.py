"""What creates a task, and what comes back."""

import asyncio
import uuid
from typing import Any

from ops.client.reply import Reply, expect, show
from ops.conform.check import NotApplicable, check
from ops.conform.checks.results import RELATED_TASK
from ops.conform.server import Server
from ops.conform.views import view_everywhere

IMMEDIATE_RESPONSE = "io.modelcontextprotocol/model-immediate-response"
MANY = 12  # a node


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


@check("T-49", "SHOULD", "the answer to a task-augmented call does not wait for the work", tools=("sleep",))
async def created_before_the_work(server: Server) -> None:
    session = await server.open()
    created = await session.call_task("sleep", {"seconds": 300})  # longer than anyone waits for a check
    reply = await session.get_task(created.task_id, node=1)
    reply.expect(reply.result.get("status") == "working", "a task that is still at work")


@check("T-15", "MAY", "what a host may tell its model at once is a string", tools=("required",))
async def immediate_response_is_text(server: Server) -> None:
    session = await server.open()
    created = await session.call_task("required", {"text": "hello"})
    meta = created.result.get("_meta") or {}
    if IMMEDIATE_RESPONSE not in meta:
        raise NotApplicable(f"no {IMMEDIATE_RESPONSE} came with a task of the tool `required`")
    created.expect(isinstance(meta[IMMEDIATE_RESPONSE], str), f'`_meta["{IMMEDIATE_RESPONSE}"]`, a string')


@check("T-48 T-14", "SHOULD", "a task that is no object is refused with -32602", tools=("echo",))
async def task_is_no_object(server: Server) -> None:
    session = await server.open()
    wrongs: tuple[object, ...] = (True, "yes", 60_000, [{}])
    for wrong in wrongs:
        (await session.call_task("echo", {"text": "hello"}, task=wrong)).expect_error(-32602)


@check("T-28", "MUST", "the id of a task is a string, the same everywhere", tools=("sleep",))
async def id_is_a_string(server: Server) -> None:
    first, *later = await view_everywhere(server)
    for view in later:
        view.expect(view.task.get("taskId") == first.task["taskId"], f"`taskId` {show(first.task['taskId'])}")


@check("T-29", "MUST", "the id of a task is the receiver's, whatever the requestor asks for", tools=("echo",))
async def id_is_the_receivers(server: Server) -> None:
    session = await server.open()
    asked = f"conform-{uuid.uuid4()}"
    wishes: dict[str, Any] = {
        "task": {"taskId": asked, "id": asked},
        "taskId": asked,
        "_meta": {RELATED_TASK: {"taskId": asked}},
    }
    created = await session.call_task("echo", {"text": "hello"}, **wishes)
    if created.message is None or "error" not in created.message:  # to refuse it is to make no id of it, too
        created.expect(created.task_id != asked, "an id of the receiver's own")
    (await session.get_task(asked)).expect_error(-32602)


@check("T-30", "MUST", "no two tasks have the same id, whichever node made them", tools=("echo",))
async def ids_are_unique(server: Server) -> None:
    ids = [reply.task_id for reply in await _create_many(server)]
    expect(len(set(ids)) == len(ids), f"{len(ids)} tasks created at the same time have only {len(set(ids))} ids: {ids}")


@check("T-31", "MUST", "a task begins as working, however many there are before it", tools=("echo",))
async def begins_as_working_in_a_crowd(server: Server) -> None:
    for reply in await _create_many(server):
        reply.expect(reply.task.get("status") == "working", "`status` is `working`")


async def _create_many(server: Server) -> list[Reply]:
    sessions = [await server.open(node=node) for node in (0, 1)]  # whose JSON-RPC ids are the same
    creating = (
        session.call_task("echo", {"text": "hello"}, node) for _ in range(MANY) for node, session in enumerate(sessions)
    )
    return await asyncio.gather(*creating)
