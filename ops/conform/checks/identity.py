"""What protects tasks where nobody is told apart: their ids, and no list."""

import math
from collections.abc import Sequence

from ops.client.reply import Reply, expect
from ops.client.session import REVISION
from ops.conform.check import NotApplicable, check
from ops.conform.server import Server
from ops.conform.session import Session

CREATED = 8
BITS = 64  # that an id needs at least; 122 are in a random UUID, 74 in one that begins with the time


@check("T-87", "MUST", "without authorization, a task id can't be guessed", tools=("echo",))
async def anonymous_ids_are_random(server: Server) -> None:
    session = server.session(user=None)
    await _initialize(session)
    if session.version is None:
        raise NotApplicable("who has no token is refused, so that tasks have owners")
    await session.notify("notifications/initialized")
    await _expect_random_ids(session)


@check("T-87", "SHOULD", "a task id can't be guessed", tools=("echo",))
async def ids_are_random(server: Server) -> None:
    await _expect_random_ids(await server.open())


@check("T-88", "SHOULD", "tasks.list is not declared to who can't be told apart", needs=("tasks",))
async def no_list_for_nobody(server: Server) -> None:
    session = server.session(user=None)
    reply = await _initialize(session)
    if session.version is None:
        return  # nobody is served
    tasks = (reply.result.get("capabilities") or {}).get("tasks") or {}
    reply.expect("list" not in tasks, "no `tasks.list`: without authorization, a list would show others' tasks")
    await session.notify("notifications/initialized")
    (await session.request("tasks/list")).expect_error(-32601)


async def _initialize(session: Session) -> Reply:
    """The answer for who has no token; the session has a version if it is served."""
    info = {"name": "receiver-conform", "version": "1"}
    params = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": info}
    reply = await session.request("initialize", params)
    if reply.status not in (401, 403):
        session.id = reply.headers.get("mcp-session-id")
        session.version = str(reply.result.get("protocolVersion"))
    return reply


async def _expect_random_ids(session: Session) -> None:
    ids = [(await session.call_task("echo", {"text": "hello"})).task_id for _ in range(CREATED)]
    bits = _estimate_bits(ids)
    expect(
        bits >= BITS,
        f"{CREATED} tasks in a row have the ids {ids}\n"
        f"wanted: ids that can't be guessed; in these, {bits:.0f} bits differ at most, of {BITS} that are the least",
    )


def _estimate_bits(ids: Sequence[str]) -> float:
    """How much differs between ids, at most: a place where all have the same letter says nothing."""
    columns = [set(column) for column in zip(*ids, strict=False) if len(set(column)) > 1]
    letters = set().union(*columns)
    return len(columns) * math.log2(max(len(letters), 1))
