"""How long a task is kept: what was asked, what is granted, and what comes after."""

import asyncio
from typing import Any

from ops.client.reply import Reply
from ops.conform.check import NotApplicable, check
from ops.conform.server import Server
from ops.conform.session import Session
from ops.conform.views import is_number, view_everywhere, walk_list

SHORT, LONG = 1, 600_000  # asked for, in ms
PATIENCE = 5_000  # the longest ttl whose end is waited for, in ms
LOOKS_PER_SECOND = 4
GRACE = 8_000  # in which a task is deleted that will be, in ms


@check("T-44 X-14", "MUST", "ttl is in every answer that shows a task: a number, or null", tools=("sleep",))
async def ttl_everywhere(server: Server) -> None:
    for view in await view_everywhere(server):
        ttl = view.task.get("ttl", "missing")
        view.expect(ttl is None or (is_number(ttl) and ttl > 0), "`ttl`, a number above 0, or null")


@check("T-43 T-44 T-13", "MUST", "the ttl that was granted is told everywhere", tools=("sleep",))
async def ttl_is_one(server: Server) -> None:
    first, *later = await view_everywhere(server, ttl=LONG)
    for view in later:
        same = view.task.get("ttl", "missing") == first.task.get("ttl")
        view.expect(same, f"`ttl` as when it was created, {first.task.get('ttl')}")


@check("T-43 T-13", "SHOULD", "a ttl below 0, or of a fraction, is refused, or replaced", tools=("echo",))
async def odd_ttl(server: Server) -> None:
    session = await server.open()
    for ttl in (-1, -60_000, 1.5):
        await _expect_granted_or_refused(session, ttl)


@check("T-43 T-13", "MUST", "a huge ttl is granted as told, refused, or replaced", tools=("echo",))
async def huge_ttl(server: Server) -> None:
    session = await server.open()
    for ttl in (10**12, 2**53, 10**30, 1e300):
        await _expect_granted_or_refused(session, ttl)


@check("T-43 T-13", "MUST", "a ttl of null is refused, or replaced", tools=("echo",))
async def null_ttl(server: Server) -> None:
    await _expect_granted_or_refused(await server.open(), None)


@check("T-13", "SHOULD", "a ttl that is no number is refused with -32602", tools=("echo",))
async def ttl_is_no_number(server: Server) -> None:
    session = await server.open()
    for ttl in ("60000", True, [60_000], {"ms": 60_000}):
        (await session.call_task("echo", {"text": "hello"}, task={"ttl": ttl})).expect_error(-32602)


@check("T-45 T-76", "MUST", "a task that was deleted at the end of its ttl is an unknown one", tools=("echo",))
async def expired_is_unknown(server: Server) -> None:
    session = await server.open()
    task_id, ttl = await _create_short(session, "echo", {"text": "hello"})
    (await _wait_until_gone(session, task_id, ttl)).expect_error(-32602)
    for method in ("tasks/get", "tasks/result", *(["tasks/cancel"] if server.declares("tasks.cancel") else [])):
        for node in (0, 1):
            (await session.request(method, {"taskId": task_id}, node)).expect_error(-32602)


@check(
    "T-45", "MUST", "tasks/list shows no task that tasks/get does not know any more", tools=("echo",),
    needs=("tasks.list",),
)  # fmt: skip
async def expired_is_not_listed(server: Server) -> None:
    session = await server.open()
    task_id, ttl = await _create_short(session, "echo", {"text": "hello"})
    await _wait_until_gone(session, task_id, ttl)
    async for view in walk_list(session, node=1):
        view.expect(view.task.get("taskId") != task_id, "no task that tasks/get does not know")


@check("T-43 T-45", "MUST", "a task is kept as long as it was told, whatever becomes of others", tools=("echo",))
async def kept_for_its_ttl(server: Server) -> None:
    session = await server.open()
    kept = await session.call_task("echo", {"text": "kept"}, ttl=LONG)
    short_id, ttl = await _create_short(session, "echo", {"text": "hello"})
    if (granted := kept.task.get("ttl")) is not None and granted < 10 * PATIENCE:
        raise NotApplicable(f"the server grants no more than {granted} ms")
    await _wait_until_gone(session, short_id, ttl)
    for node in (0, 1):
        task = await session.get_task(kept.task_id, node)
        task.expect(task.result.get("taskId") == kept.task_id, "the task")
        outcome = await session.get_result(kept.task_id, node)
        outcome.expect(outcome.result.get("content"), "its result")


@check("T-45 X-6", "SHOULD", "a tasks/result that waits at the end of the ttl is answered", tools=("sleep",))
async def waiter_at_expiry(server: Server) -> None:
    session = await server.open()
    task_id, ttl = await _create_short(session, "sleep", {"seconds": 60})
    waiting = session.begin("tasks/result", {"taskId": task_id}, node=1)
    await _wait_until_gone(session, task_id, ttl)
    reply = await waiting.reply()
    reply.expect(reply.error, "an error, as there will be no result")


async def _create_short(session: Session, role: str, arguments: dict[str, Any]) -> tuple[str, int]:
    """A task that expires soon, and its ttl in ms."""
    created = await session.call_task(role, arguments, ttl=SHORT)
    ttl = created.task.get("ttl")
    if not is_number(ttl) or ttl > PATIENCE:
        raise NotApplicable(
            f"the server grants a ttl of {ttl} ms to who asks for {SHORT}: too long to wait for its end"
        )
    return created.task_id, int(ttl)


async def _wait_until_gone(session: Session, task_id: str, ttl: int) -> Reply:
    """The first error of tasks/get; NotApplicable if the server keeps the task, as it may."""
    for _ in range((ttl + GRACE) * LOOKS_PER_SECOND // 1000):
        reply = await session.get_task(task_id)
        if reply.message is not None and "error" in reply.message:
            return reply
        await asyncio.sleep(1 / LOOKS_PER_SECOND)
    raise NotApplicable("the server keeps tasks beyond their ttl, as it may")


async def _expect_granted_or_refused(session: Session, ttl: object) -> None:
    reply = await session.call_task("echo", {"text": "hello"}, task={"ttl": ttl})
    if reply.message is not None and "error" in reply.message:
        return reply.expect_error(-32602)
    granted = reply.task.get("ttl", "missing")
    fits = granted in (None, "missing") or (is_number(granted) and granted > 0)  # missing: see ttl_everywhere
    reply.expect(fits, "a task whose `ttl` is a number above 0, or null; or a JSON-RPC error with code -32602")
    got = await session.get_task(reply.task_id, node=1)
    return got.expect(got.result.get("ttl", "missing") == granted, f"`ttl` as when it was created, {granted}")
