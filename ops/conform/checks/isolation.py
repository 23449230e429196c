"""Whose a task is."""

from ops.client.reply import expect, show
from ops.client.stream import Message
from ops.conform.check import NotApplicable, check
from ops.conform.checks.association import listen_if_offered
from ops.conform.checks.listing import fill_a_page, list_all
from ops.conform.checks.naming import task_methods
from ops.conform.server import FORM, Server
from ops.conform.session import Session


@check("T-85 T-89", "MUST", "nobody reads or cancels another's task", tools=("sleep",), needs=("token2",))
async def foreign_task_is_refused(server: Server) -> None:
    owner, other = await server.open(), await server.open(user=1)
    task_id = (await owner.call_task("sleep", {"seconds": 30})).task_id
    for method in ("tasks/get", "tasks/result", "tasks/cancel"):
        (await other.request(method, {"taskId": task_id}, node=1)).expect_error(-32602)
    mine = await owner.get_task(task_id)
    mine.expect(mine.result.get("status") == "working", "a task that others' requests leave as it is")


@check("T-89", "MUST", "nobody reads another's task that has ended", tools=("structured",), needs=("token2",))
async def foreign_result_is_refused(server: Server) -> None:
    owner, other = await server.open(), await server.open(user=1)
    task_id = (await owner.call_task("structured", {"text": "a secret"})).task_id
    await owner.wait_until(task_id, "completed")
    for method in task_methods(server):
        reply = await other.request(method, {"taskId": task_id})
        reply.expect("error" in (reply.message or {}), "a JSON-RPC error: the task is another's")


# Only to reject is asked for; an answer that differs tells which ids exist.
@check("T-89 T-76", "SHOULD", "another's task is answered as one that is unknown", tools=("sleep",), needs=("token2",))
async def foreign_is_unknown(server: Server) -> None:
    owner, other = await server.open(), await server.open(user=1)
    task_id = (await owner.call_task("sleep", {"seconds": 30})).task_id
    unknown_id = task_id[::-1] if task_id != task_id[::-1] else f"{task_id}x"
    for method in task_methods(server):
        foreign = await other.request(method, {"taskId": task_id})
        unknown = await other.request(method, {"taskId": unknown_id})
        same = str(foreign.error).replace(task_id, "ID") == str(unknown.error).replace(unknown_id, "ID")
        foreign.expect(same and foreign.status == unknown.status, f"as for an unknown task, but for its id:\n{unknown}")


@check("T-90", "MUST", "tasks/list has nobody else's tasks", tools=("echo",), needs=("token2", "tasks.list"))
async def foreign_tasks_are_not_listed(server: Server) -> None:
    owner, other = await server.open(), await server.open(user=1)
    task_id = (await owner.call_task("echo", {"text": "hello"})).task_id
    for node in (0, 1):
        listed = {task.get("taskId") for task in await list_all(other, node)}
        expect(task_id not in listed, f"tasks/list of another user has the task {task_id}\nwanted: only their own")


@check(
    "T-77 T-90", "MUST", "another's cursor shows nobody else's tasks", tools=("echo",), needs=("token2", "tasks.list")
)
async def foreign_cursor_shows_nothing(server: Server) -> None:
    owner, other = await server.open(), await server.open(user=1)
    await fill_a_page(owner)
    cursor = (await owner.request("tasks/list")).result.get("nextCursor")
    reply = await other.request("tasks/list", {"cursor": cursor})
    if "error" in (reply.message or {}):
        reply.expect_error(-32602)
        return
    theirs = {task.get("taskId") for task in await list_all(owner)}
    shown = [task.get("taskId") for task in reply.result.get("tasks") or [] if task.get("taskId") in theirs]
    reply.expect(not shown, f"-32602, or none of the tasks of the user to whom the cursor was given; not {shown[:3]}")


@check("T-85", "MUST", "what a task sends goes to nobody else", tools=("elicit", "progress"), needs=("token2",))
async def others_hear_nothing(server: Server) -> None:
    owner, other = await server.open(FORM), await server.open(FORM, user=1)
    await other.listen()
    await listen_if_offered(owner)
    asks = (await owner.call_task("elicit", {"message": "Which?"})).task_id
    owner.begin("tasks/result", {"taskId": asks})
    theirs = (await owner.call_task("progress", {"steps": 5}, _meta={"progressToken": "owner"})).task_id
    await owner.hear("elicitation/create")
    await owner.wait_until(theirs, "completed")
    mine = (await other.call_task("progress", {"steps": 5}, _meta={"progressToken": "other"})).task_id
    await other.wait_until(mine, "completed")  # what was on its way to the stream has come
    _expect_own(other, mine)


@check("T-85 X-15", "MUST", "a task outlives the session that made it", tools=("echo",), needs=("token",))
async def outlives_its_session(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("echo", {"text": "hello"})).task_id
    await session.wait_until(task_id, "completed")
    if session.id is None or (await session.send(verb="DELETE")).status == 405:
        raise NotApplicable("there is no session that a client can end")
    later = await server.open()
    reply = await later.get_task(task_id, node=1)
    reply.expect(reply.result.get("status") == "completed", "the task: it belongs to the user, not to a session")
    result = await later.get_result(task_id)
    result.expect("content" in result.result, "the result of its work")


def _expect_own(session: Session, task_id: str) -> None:
    for one in session.heard:
        expect(_may_hear(one.message, task_id), f"another user heard: {show(one.message)}\nwanted: nothing of the kind")


def _may_hear(message: Message, task_id: str) -> bool:
    params = message.get("params") or {}
    method = message.get("method")
    if method == "notifications/progress":
        return bool(params.get("progressToken") == "other")
    if method == "notifications/tasks/status":
        return bool(params.get("taskId") == task_id)
    return method != "elicitation/create"
