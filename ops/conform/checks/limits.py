"""Limits: how many requests, how many tasks, how long they are kept."""

import asyncio
import itertools

from ops.client.reply import Reply, expect
from ops.conform.check import NotApplicable, check
from ops.conform.checks.getting import without_pace
from ops.conform.checks.listing import list_all
from ops.conform.server import Server
from ops.conform.session import Session

LOOKED_UP_MOST = 1000  # in search of a limit
CREATED_MOST = 250
AT_ONCE = 20
HUGE_TTL = 10**12  # ms: 31 years
SOON = 10_000  # ms: a ttl that is worth waiting for


# The second user, if there is one, so that a limit that is left behind is not the others'.
@check("T-91", "SHOULD", "who asks too much is told so by an error, and let in again", tools=("echo",), alone=True)
async def burst_is_limited(server: Server) -> None:
    session = await _open_as_last(server)
    task_id = (await session.call_task("echo", {"text": "hello"})).task_id
    before = await session.wait_until(task_id, "completed")
    numbers = itertools.count()
    refused: list[Reply] = []
    while not refused and next(numbers) * AT_ONCE < LOOKED_UP_MOST:
        refused = [reply for reply in await _look_up(session, AT_ONCE) if not _is_unknown(reply)]
    if not refused:
        raise NotApplicable(f"{LOOKED_UP_MOST} requests for unknown tasks met no limit")
    for reply in refused:
        _expect_refusal(reply)

    async def is_let_in() -> bool:
        return _is_unknown((await _look_up(session, 1))[0])

    await server.poll("an end of the limit, with -32602 for an unknown task as before", is_let_in, pause=1)
    after = await session.get_task(task_id)
    same = without_pace(after.result) == without_pace(before.result)
    after.expect(same, f"the task as before the limit was met: {before.result}")


@check(
    "T-92", "SHOULD", "one task too many is refused, until another ends", tools=("sleep",), needs=("tasks.cancel",),
    alone=True,
)  # fmt: skip
async def open_tasks_are_limited(server: Server) -> None:
    session = await _open_as_last(server)
    created: list[str] = []
    refused: list[Reply] = []
    while not refused and len(created) < CREATED_MOST:
        replies = await asyncio.gather(*(session.call_task("sleep", {"seconds": 120}) for _ in range(AT_ONCE)))
        refused = [reply for reply in replies if _is_refused(reply)]
        created += [reply.task_id for reply in replies if not _is_refused(reply)]
    if not refused:
        raise NotApplicable(f"{CREATED_MOST} tasks of one user met no limit")
    for reply in refused:
        _expect_refusal(reply)
    for task_id in created[:1] + created[-1:]:
        task = await session.get_task(task_id)
        task.expect(task.result.get("status") == "working", "`working`: what was created before the limit goes on")
    await session.cancel_task(created[0])

    async def is_accepted() -> bool:
        return not _is_refused(await session.call_task("sleep", {"seconds": 120}))

    await server.poll("a task to be accepted, after another was cancelled", is_accepted, pause=1)


@check("T-93 T-43", "SHOULD", "a ttl has an upper limit", tools=("echo",))
async def huge_ttl_is_clamped(server: Server) -> None:
    session = await server.open()
    reply = await session.call_task("echo", {"text": "hello"}, ttl=HUGE_TTL)
    if reply.message is not None and "error" in reply.message:
        reply.expect_error(-32602)  # another way not to keep it
        return
    _expect_limited(reply, reply.task.get("ttl"))
    task = await session.get_task(reply.task_id, node=1)
    _expect_limited(task, task.result.get("ttl"))


@check("T-93", "SHOULD", "no task is kept for ever, whether its ttl is null or left out", tools=("echo",))
async def no_ttl_is_unlimited(server: Server) -> None:
    session = await server.open()
    _expect_limited(reply := await session.call_task("echo", {"text": "hello"}), reply.task.get("ttl"))
    reply = await session.call_task("echo", {"text": "hello"}, task={"ttl": None})
    if reply.message is not None and "error" in reply.message:
        reply.expect_error(-32602)  # TaskMetadata has numbers only
        return
    _expect_limited(reply, reply.task.get("ttl"))


@check("T-94 T-45 T-76", "SHOULD", "a task whose ttl is over is gone", tools=("echo",))
async def expired_is_gone(server: Server) -> None:
    session = await server.open()
    task = (await session.call_task("echo", {"text": "hello"}, ttl=1000)).task
    task_id, ttl = str(task["taskId"]), task.get("ttl")
    if not isinstance(ttl, int | float) or ttl > SOON:
        raise NotApplicable(f"for a ttl of 1000 the server grants {ttl}")

    async def is_gone() -> bool:
        return "error" in ((await session.get_task(task_id)).message or {})

    await server.poll(f"task {task_id}, with a ttl of {ttl}, to be gone from tasks/get", is_gone, pause=0.5)
    for node in (0, 1):
        (await session.get_task(task_id, node)).expect_error(-32602)
        (await session.get_result(task_id, node)).expect_error(-32602)
    if server.declares("tasks.list"):
        listed = [one.get("taskId") for one in await list_all(session, node=1)]
        expect(task_id not in listed, f"tasks/list still has {task_id}, which tasks/get says is unknown")


async def _open_as_last(server: Server) -> Session:
    return await server.open(user=max(len(server.target.tokens) - 1, 0))


async def _look_up(session: Session, count: int) -> list[Reply]:
    return await asyncio.gather(*(session.get_task(f"no-such-task-{number}") for number in range(count)))


def _is_unknown(reply: Reply) -> bool:
    return ((reply.message or {}).get("error") or {}).get("code") == -32602


def _is_refused(reply: Reply) -> bool:
    return "result" not in (reply.message or {})


def _expect_refusal(reply: Reply) -> None:
    """A Violation unless a request over a limit was answered as one."""
    if reply.status in (429, 503):
        return
    error = (reply.message or {}).get("error") or {}
    code = error.get("code")
    told = reply.status == 200 and isinstance(code, int) and code not in (-32602, -32601) and error.get("message")
    reply.expect(told, "a JSON-RPC error as -32603 that says that there is a limit, or HTTP status 429")


def _expect_limited(reply: Reply, ttl: object) -> None:
    limited = isinstance(ttl, int | float) and not isinstance(ttl, bool) and 0 < ttl < HUGE_TTL
    reply.expect(limited, f"a ttl in ms that is less than {HUGE_TTL}; not {ttl!r}")
