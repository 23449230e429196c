"""Errors, of the protocol and of the work."""

from typing import Any

from ops.client.reply import Reply, expect
from ops.conform.check import NotApplicable, check
from ops.conform.checks.listing import list_all
from ops.conform.checks.naming import task_methods
from ops.conform.checks.results import without_relation
from ops.conform.server import Server
from ops.conform.session import Session

RAISED: list[dict[str, Any]] = [
    {"code": -32050, "message": "The tape is torn", "data": {"tape": 7, "at": ["a", None, 1.5, {"\u00e4": ""}]}},
    {"code": 4242, "message": "Nothing to see", "data": "a text"},
    {"code": -32603, "message": "Out of \u201cpaper\u201d\nin tray 2"},
    {"code": -32602, "message": "No such tray", "data": [0, False]},
]


@check("T-83", "MUST", "tasks/result is the JSON-RPC error that the plain call gives", tools=("error",))
async def error_as_from_the_plain_call(server: Server) -> None:
    session = await server.open()
    for raised in RAISED:
        called = await session.call("error", raised)
        task_id = (await session.call_task("error", raised)).task_id
        for node in (0, 1):
            reply = await session.get_result(task_id, node)
            reply.expect(_outcome(reply) == _outcome(called), f"the outcome of the plain call: {_outcome(called)}")
            if "error" not in (called.message or {}):
                raise NotApplicable("a plain call of the error tool ends with a result")
            plain = called.error
            wanted = {"code": raised["code"], "message": raised["message"]}
            reply.expect(plain.items() >= wanted.items(), f"code and message as the tool has them: {wanted}")
            reply.expect(plain.get("data") == raised.get("data"), f"data as the tool has it: {raised.get('data')}")


@check("T-83", "MUST", "a task whose work ends with a JSON-RPC error is failed", tools=("error",))
async def error_fails_the_task(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("error", RAISED[0])).task_id
    await session.wait_until(task_id, "failed")


@check("T-75 X-3", "SHOULD", "a task whose result has isError is failed", tools=("fail",))
async def is_error_fails_the_task(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("fail", {"text": "the disk is full"})).task_id
    await session.wait_until(task_id, "failed")


@check("T-84 T-52 T-75", "MUST", "a result with isError is a result, as from the plain call", tools=("fail",))
async def is_error_is_a_result(server: Server) -> None:
    session = await server.open()
    arguments = {"text": "the disk is full"}
    plain = (await session.call("fail", arguments)).result
    task_id = (await session.call_task("fail", arguments)).task_id
    reply = await session.get_result(task_id, node=1)
    reply.expect(reply.result.get("isError") is True, "a result with `isError`: the work had one")
    reply.expect(without_relation(reply.result) == without_relation(plain), f"the result of the plain call, {plain}")


@check("T-82", "SHOULD", "a task failed by isError says why in its statusMessage", tools=("fail",))
async def is_error_is_explained(server: Server) -> None:
    await _expect_explained(server, "fail", {"text": "The disk is full"}, "The disk is full")


@check("T-82", "SHOULD", "a task failed by a JSON-RPC error says why in its statusMessage", tools=("error",))
async def error_is_explained(server: Server) -> None:
    await _expect_explained(server, "error", RAISED[0], RAISED[0]["message"])


@check("T-81", "SHOULD", "errors have a code and say what is wrong", tools=("echo",))
async def errors_say_something(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("echo", {"text": "hello"})).task_id
    await session.wait_until(task_id, "completed")
    replies = [await session.request(method, {"taskId": "no-such-task"}) for method in task_methods(server)]
    replies.append(await session.request("tasks/no-such-method", {}))
    if server.declares("tasks.list"):
        replies.append(await session.request("tasks/list", {"cursor": "no-such-cursor"}))
    if server.declares("tasks.cancel"):
        replies.append(await session.cancel_task(task_id))
    for reply in [reply for reply in replies if "error" in (reply.message or {})]:
        code, message = reply.error.get("code"), reply.error.get("message")
        reply.expect(isinstance(code, int) and not isinstance(code, bool), "an integer as error code")
        reply.expect(isinstance(message, str) and any(map(str.isalpha, message)), "words in the error's message")


# What can be known before there is a task is refused, or else is the task's outcome: both are what the row allows.
# SHOULD: a server that does not accept the task might hold an isError result, as of a plain call, for its answer.
@check(
    "T-48 X-18", "SHOULD", "bad arguments with task make an error, -32602, and no task", tools=("echo",),
    needs=("tasks.requests.tools.call",), alone=True,
)  # fmt: skip
async def bad_arguments_make_no_task(server: Server) -> None:
    session = await server.open()
    await _expect_refused(session, session.call_params("echo", {}, task={}))


@check(
    "L-06 X-18", "SHOULD", "an unknown tool with task makes an error, -32602, and no task",
    needs=("tasks.requests.tools.call",), alone=True,
)  # fmt: skip
async def unknown_tool_makes_no_task(server: Server) -> None:
    session = await server.open()
    await _expect_refused(session, {"name": "conform_no_such_tool", "arguments": {}, "task": {}})


async def _expect_refused(session: Session, params: dict[str, Any]) -> None:
    before = await _list_ids(session)
    reply = await session.request("tools/call", params)
    made = sorted(await _list_ids(session) - before)
    if "result" in (reply.message or {}):
        await _expect_outcome_of_plain(session, reply, params)
        return
    reply.expect_error(-32602)
    expect(not made, f"{reply}\nand then tasks/list had the new {made}\nwanted: none, as no task was accepted")


async def _expect_outcome_of_plain(session: Session, created: Reply, params: dict[str, Any]) -> None:
    created.expect("task" in created.result, "a JSON-RPC error, -32602, or else a task")
    plain = await session.request("tools/call", {name: value for name, value in params.items() if name != "task"})
    outcome = await session.get_result(created.task_id)
    failed = outcome.message is not None and _outcome(outcome) == _outcome(plain) and _is_failure(plain)
    outcome.expect(failed, f"the error that the plain call gives, {plain.message}; or -32602 before there is a task")


def _outcome(reply: Reply) -> object:
    message = reply.message or {}
    return without_relation(message["result"]) if "result" in message else message.get("error")


def _is_failure(reply: Reply) -> bool:
    message = reply.message or {}
    return "error" in message or (message.get("result") or {}).get("isError") is True


async def _expect_explained(server: Server, role: str, arguments: dict[str, Any], why: str) -> None:
    session = await server.open()
    task_id = (await session.call_task(role, arguments)).task_id
    task = await session.wait_until(task_id, "failed", "completed")
    if task.result.get("status") == "completed":
        raise NotApplicable("the task does not fail")  # T-75
    task.expect(why in str(task.result.get("statusMessage")), f"a statusMessage with the reason, {why!r}")


async def _list_ids(session: Session) -> set[str]:
    """The ids of all tasks; nothing where there is no tasks/list."""
    tasks = await list_all(session, node=1) if session.server.declares("tasks.list") else []
    return {str(task.get("taskId")) for task in tasks}
