"""What the server declares of tasks, and which calls become tasks."""

from typing import Any

from ops.client.reply import Reply
from ops.client.session import REVISION
from ops.conform.check import NotApplicable, check
from ops.conform.server import Server
from ops.conform.session import Session

BEFORE_TASKS = "2025-06-18"
HELLO = {"text": "hello"}
LISTS = {"tools": "tools/list", "prompts": "prompts/list", "resources": "resources/list"}


@check("T-01 T-26", "MUST", "a server that makes tasks declares them, on every node", tools=("echo",))
async def tasks_are_declared(server: Server) -> None:
    for node in (0, 1):
        session = server.session()
        initialized = await session.initialize({}, node=node)
        await session.notify("notifications/initialized", node=node)
        called = await session.call("echo", HELLO, node, task={})
        if called.message is not None and "task" in (called.message.get("result") or {}):
            declared = _declared(initialized, "requests", "tools", "call")
            initialized.expect(declared, f"`tasks.requests.tools.call`, since a call became a task: {called}")
        elif not _declared(initialized, "requests", "tools", "call"):
            _expect_plain(called, "as tasks are not declared")


@check("T-26", "MUST", f"task is ignored in a session of {BEFORE_TASKS}, which has no tasks", tools=("echo",))
async def task_is_ignored_before_tasks(server: Server) -> None:
    session, initialized = await _open_before_tasks(server)
    if _declared(initialized):
        raise NotApplicable(f"the server declares tasks in {BEFORE_TASKS} too")
    called = await session.call("echo", HELLO, task={"ttl": 60_000})
    _expect_plain(called, "as tasks were not declared")


@check("T-05", "MUST", "tasks/list works where tasks.list is declared, and nowhere else")
async def list_is_where_declared(server: Server) -> None:
    session, initialized = await _open_now(server)
    reply = await session.request("tasks/list", {}, node=1)
    if _declared(initialized, "list"):
        reply.expect(isinstance(reply.result.get("tasks"), list), "`tasks`, an array, as `tasks.list` is declared")
    else:
        reply.expect_error(-32601)


@check("T-05 T-06", "MUST", f"no tasks/list and tasks/cancel in a session of {BEFORE_TASKS}, which has no tasks")
async def methods_before_tasks(server: Server) -> None:
    session, initialized = await _open_before_tasks(server)
    for name, params in (("list", {}), ("cancel", {"taskId": "no-such-task"})):
        if not _declared(initialized, name):
            (await session.request(f"tasks/{name}", params)).expect_error(-32601)


@check("T-06", "MUST", "tasks/cancel works where tasks.cancel is declared, and nowhere else", tools=("sleep",))
async def cancel_is_where_declared(server: Server) -> None:
    session, initialized = await _open_now(server)
    task_id = (await session.call_task("sleep", {"seconds": 60})).task_id
    reply = await session.cancel_task(task_id, node=1)
    if _declared(initialized, "cancel"):
        reply.expect(reply.result.get("taskId") == task_id, "the task, as `tasks.cancel` is declared")
    else:
        reply.expect_error(-32601)


@check("T-04", "MUST", "task is ignored in requests that can't be tasks")
async def other_requests_ignore_task(server: Server) -> None:
    session = await server.open()
    requests: list[tuple[str, dict[str, Any]]] = [("ping", {})]
    requests += [(method, {}) for capability, method in LISTS.items() if server.declares(capability)]
    requests += [("tasks/list", {})] if server.declares("tasks.list") else []
    requests += [("logging/setLevel", {"level": "debug"})] if server.declares("logging") else []
    for method, params in requests:
        plain = await session.request(method, params)
        reply = await session.request(method, params | {"task": {"ttl": 60_000}})
        fits = reply.result.keys() == plain.result.keys() and "task" not in reply.result
        reply.expect(fits, f"the members of the result without `task` in the request: {sorted(plain.result)}")


@check("T-09", "SHOULD", "a tool that forbids tasks is refused as a task with -32601", tools=("forbidden",))
async def forbidden_as_task(server: Server) -> None:
    session = await server.open()
    for task in ({}, {"ttl": 60_000}):
        (await session.call_task("forbidden", HELLO, task=task)).expect_error(-32601)


@check("T-09", "MUST", "a tool that forbids tasks is called plainly", tools=("forbidden",))
async def forbidden_plainly(server: Server) -> None:
    session = await server.open()
    called = await session.call("forbidden", HELLO)
    _expect_plain(called, "as it was called without `task`")


@check("T-12 X-1", "MUST", "a tool that requires a task is refused plainly with -32601", tools=("required",))
async def required_plainly(server: Server) -> None:
    session = await server.open()
    for node in (0, 1):
        (await session.call("required", HELLO, node)).expect_error(-32601)


@check("T-12 T-48", "MUST", "a tool that requires a task runs as one", tools=("required",))
async def required_as_task(server: Server) -> None:
    session = await server.open()
    created = await session.call_task("required", HELLO)
    outcome = await session.get_result(created.task_id, node=1)
    text = [block.get("text") for block in outcome.result.get("content", [])]
    outcome.expect(text == ["hello"], "the text `hello`")


@check("T-10 T-27 X-1", "MUST", "a plain call where tasks are optional has a result, or is -32600", tools=("echo",))
async def optional_plainly(server: Server) -> None:
    session = await server.open()
    called = await session.call("echo", HELLO)
    if called.message is not None and "error" in called.message:
        called.expect_error(-32600)  # T-27
    else:
        _expect_plain(called, "as it was called without `task`")


# SHOULD: a server that does not accept the task might hold an isError result, as of a plain call, for its answer.
@check("T-48 T-14 X-18", "SHOULD", "bad arguments with task: a task that fails, or -32602", tools=("sleep",))
async def bad_arguments_as_task(server: Server) -> None:
    session = await server.open()
    called = await session.call_task("sleep", {"seconds": "many"})
    if called.message is not None and "error" in called.message:
        called.expect_error(-32602)
    else:
        await session.wait_until(called.task_id, "failed", "completed")  # which of them: T-75


async def _open_now(server: Server) -> tuple[Session, Reply]:
    session = server.session()
    initialized = await session.initialize({}, REVISION)
    await session.notify("notifications/initialized")
    return session, initialized


async def _open_before_tasks(server: Server) -> tuple[Session, Reply]:
    session = server.session()
    initialized = await session.initialize({}, BEFORE_TASKS)
    if session.version != BEFORE_TASKS:
        raise NotApplicable(f"the server does not have {BEFORE_TASKS}")
    await session.notify("notifications/initialized")
    return session, initialized


def _declared(initialized: Reply, *names: str) -> bool:
    """Whether ``capabilities.tasks`` has this member of a member."""
    found: Any = initialized.result.get("capabilities")
    for name in ("tasks", *names):
        found = found.get(name) if isinstance(found, dict) else None
    return found not in (None, False)


def _expect_plain(called: Reply, since: str) -> None:
    result = (called.message or {}).get("result") or {}
    called.expect(isinstance(result.get("content"), list) and "task" not in result, f"the tool's own result, {since}")
