"""Which messages name the task that they belong to, and with which id."""

from collections.abc import Callable, Mapping

from ops.client.exchange import Exchange
from ops.client.reply import Reply, expect, show
from ops.client.stream import Message
from ops.conform.check import NotApplicable, check
from ops.conform.checks.results import RELATED_TASK
from ops.conform.server import EVERYTHING, FORM, Server
from ops.conform.session import Session

SAYINGS = ("red", "green")  # what two tasks say, so that one can tell whose a message is


@check("T-54 T-53", "MUST", "the questions of two tasks each name their own", tools=("elicit",))
async def questions_name_their_own_tasks(server: Server) -> None:
    session = await server.open(FORM)
    tasks = {saying: (await session.call_task("elicit", {"message": saying})).task_id for saying in SAYINGS}
    _wait_for_both(session, tasks)
    await session.hear("elicitation/create", 2)
    _expect_own_tasks(session, "elicitation/create", lambda message: str(message["params"].get("message")), tasks)


@check("T-53", "MUST", "the sampling requests of two tasks each name their own", tools=("sample",))
async def samplings_name_their_own_tasks(server: Server) -> None:
    session = await server.open(EVERYTHING)
    tasks = {saying: (await session.call_task("sample", {"prompt": saying})).task_id for saying in SAYINGS}
    _wait_for_both(session, tasks)
    await session.hear("sampling/createMessage", 2)
    _expect_own_tasks(session, "sampling/createMessage", lambda message: show(message["params"]), tasks)


@check("T-53", "MUST", "the progress of two tasks names each its own", tools=("progress",))
async def progress_names_its_task(server: Server) -> None:
    session = await server.open()
    tasks = {
        saying: (await session.call_task("progress", {"steps": 10}, _meta={"progressToken": saying})).task_id
        for saying in SAYINGS
    }
    await listen_if_offered(session)
    for result in _wait_for_both(session, tasks):
        await result.reply()
    if not session.heard_of("notifications/progress"):
        raise NotApplicable("the server sends no progress of tasks")
    _expect_own_tasks(session, "notifications/progress", lambda message: str(message["params"]["progressToken"]), tasks)


@check("T-53", "MUST", "the log messages of two tasks each name their own", tools=("log",), needs=("logging",))
async def log_messages_name_their_tasks(server: Server) -> None:
    session = await server.open()
    await session.request("logging/setLevel", {"level": "debug"})
    await session.listen()
    tasks = {
        saying: (await session.call_task("log", {"level": "error", "message": saying})).task_id for saying in SAYINGS
    }
    _wait_for_both(session, tasks)
    await session.hear("notifications/message", 2, lambda message: any(saying in show(message) for saying in SAYINGS))
    _expect_own_tasks(session, "notifications/message", lambda message: show(message["params"]), tasks)


# The text that asks for it in "all responses" has an example without: no reason to call a server wrong.
@check("T-53 X-16", "SHOULD", "a CreateTaskResult names its task in _meta", tools=("echo",))
async def creation_names_its_task(server: Server) -> None:
    session = await server.open()
    reply = await session.call_task("echo", {"text": "hello"})
    expect_relation(reply, reply.task_id)


@check("T-58", "SHOULD", "tasks/get, tasks/list and tasks/cancel go without related-task", tools=("sleep",))
async def no_relation_where_the_task_is_told(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 60})).task_id
    replies = [await session.get_task(task_id)]
    if server.declares("tasks.list"):
        replies.append(await session.request("tasks/list"))
    if server.declares("tasks.cancel"):
        replies.append(await session.cancel_task(task_id))
    for reply in replies:
        told = [reply.result, *(reply.result.get("tasks") or [])]
        related = any(RELATED_TASK in (one.get("_meta") or {}) for one in told)
        reply.expect(not related, f'no "{RELATED_TASK}" in `_meta`: the result says by itself which tasks it means')


@check("T-59", "SHOULD", "notifications/tasks/status goes without related-task", tools=("sleep",))
async def no_relation_in_status_notifications(server: Server) -> None:
    session = await server.open()
    await listen_if_offered(session)
    task_id = (await session.call_task("sleep", {"seconds": 0.5})).task_id
    await session.get_result(task_id)
    heard = session.heard_of("notifications/tasks/status")
    if not heard:
        raise NotApplicable("the server sends no notifications/tasks/status")
    for one in heard:
        meta = one.message.get("params", {}).get("_meta") or {}
        expect(RELATED_TASK not in meta, f'came: {show(one.message)}\nwanted: no "{RELATED_TASK}" in params._meta')


async def listen_if_offered(session: Session, node: int = 0) -> bool:
    """Opens a GET stream; False if the server offers none."""
    try:
        await session.listen(node)
    except NotApplicable:
        return False
    return True


def expect_relation(reply: Reply, task_id: str) -> None:
    """A Violation unless the ``_meta`` of a result names this task."""
    related = (reply.result.get("_meta") or {}).get(RELATED_TASK)
    reply.expect(related == {"taskId": task_id}, f'`_meta` with "{RELATED_TASK}": {{"taskId": "{task_id}"}}')


def _wait_for_both(session: Session, tasks: Mapping[str, str]) -> list[Exchange]:
    return [session.begin("tasks/result", {"taskId": id}, node) for node, id in enumerate(tasks.values())]


def _expect_own_tasks(
    session: Session, method: str, saying_of: Callable[[Message], str], tasks: Mapping[str, str]
) -> None:
    """A Violation unless each message names the task that says what is in it."""
    for one in session.heard_of(method):
        said = saying_of(one.message)
        wanted = next((task_id for saying, task_id in tasks.items() if saying in said), None)
        related = (one.message["params"].get("_meta") or {}).get(RELATED_TASK)
        text = f"came: {show(one.message)}\nwanted: params._meta names the task {wanted}, of those two whose it is"
        expect(related == {"taskId": wanted}, text)
