"""Progress of tasks."""

import json
from itertools import pairwise

from ops.client.reply import expect, show
from ops.client.session import Heard
from ops.conform.check import NotApplicable, check
from ops.conform.checks.association import listen_if_offered
from ops.conform.server import Server
from ops.conform.session import TERMINAL, Session

PROGRESS = "notifications/progress"
TOKENS: list[str | int] = [0, "", "0", 7, "a token"]


@check("T-60", "MUST", "progress of a task carries the token of its request, as it was", tools=("progress",))
async def tokens_stay_as_they_were(server: Server) -> None:
    session = await server.open()
    task_ids = [await _start(session, 10, token) for token in TOKENS]
    await listen_if_offered(session, node=1)
    waits = [session.begin("tasks/result", {"taskId": task_id}) for task_id in task_ids]
    for wait in waits:
        await wait.reply()
    _expect_tokens(session)


@check("T-60", "MUST", "progress on a GET stream carries the token of its request, as it was", tools=("progress",))
async def tokens_stay_on_a_get_stream(server: Server) -> None:
    session = await server.open()
    task_ids = [await _start(session, 10, token) for token in TOKENS]
    await session.listen(node=1)
    for task_id in task_ids:
        await session.wait_until(task_id, "completed")
    _expect_tokens(session)


@check("T-62", "MUST", "progress rises with each notification", tools=("progress",))
async def progress_rises(server: Server) -> None:
    session = await server.open()
    task_id = await _start(session, 10, "rising")
    await listen_if_offered(session)
    await session.get_result(task_id, node=1)
    heard = [one.message["params"].get("progress") for one in _progress_of(session, "rising")]
    if not heard:
        raise NotApplicable("the server sends no progress of tasks")
    numbers = [value for value in heard if isinstance(value, int | float) and not isinstance(value, bool)]
    rises = all(earlier < later for earlier, later in pairwise(numbers))
    expect(numbers == heard and rises, f"progress came as {heard}\nwanted: numbers, each greater than the one before")


@check("T-62", "MUST", "a task whose request has no progressToken sends no progress", tools=("progress",))
async def no_progress_unasked(server: Server) -> None:
    session = await server.open()
    await listen_if_offered(session)
    task_id = (await session.call_task("progress", {"steps": 5})).task_id
    await session.get_result(task_id)
    heard = [one.message for one in session.heard_of(PROGRESS)]
    expect(not heard, f"came: {show(heard[:3])}\nwanted: none, as the tools/call had no progressToken")


@check("T-61", "MUST", "a cancelled task sends no more progress", tools=("progress",), needs=("tasks.cancel",))
async def no_progress_after_cancel(server: Server) -> None:
    session = await server.open()
    await session.listen(node=1)
    task_id = await _start(session, 100, "ended")
    await _hear_first(session, task_id, "ended")
    await session.cancel_task(task_id)
    # The first progress of a later task is behind what was on its way when the task was cancelled.
    later = await _start(session, 10, "later")
    await _hear_first(session, later, "later")
    known = len(_progress_of(session, "ended"))
    await session.wait_until(later, "completed")
    heard = [one.message for one in _progress_of(session, "ended")[known:]]
    expect(not heard, f"came: {show(heard[:3])}\nwanted: none, since the task {task_id} was cancelled before")


@check("T-61", "MUST", "no progress comes behind the news that the task has ended", tools=("progress",))
async def no_progress_after_the_news(server: Server) -> None:
    session = await server.open()
    await session.listen()
    task_id = await _start(session, 5, "ended")
    await session.wait_until(task_id, "completed")
    later = await _start(session, 5, "later")
    await session.wait_until(later, "completed")
    news = next((number for number, one in enumerate(session.heard) if _tells_the_end(one, task_id)), None)
    if news is None:
        raise NotApplicable("the server does not tell by notifications/tasks/status that a task has ended")
    heard = [one.message for one in session.heard[news:] if one in _progress_of(session, "ended")]
    expect(not heard, f"came: {show(session.heard[news].message)}\nand then: {show(heard[:3])}\nwanted: no such order")


async def _start(session: Session, steps: int, token: str | int) -> str:
    return (await session.call_task("progress", {"steps": steps}, _meta={"progressToken": token})).task_id


def _progress_of(session: Session, token: str) -> list[Heard]:
    return [one for one in session.heard_of(PROGRESS) if one.message["params"].get("progressToken") == token]


async def _hear_first(session: Session, task_id: str, token: str) -> None:
    """Returns when a task has sent progress; NotApplicable if it ends without."""

    async def is_heard() -> bool:
        if (await session.get_task(task_id)).result.get("status") in TERMINAL and not _progress_of(session, token):
            raise NotApplicable("the server sends no progress of tasks on a GET stream")
        return bool(_progress_of(session, token))

    await session.server.poll(f"progress of task {task_id}", is_heard)


def _expect_tokens(session: Session) -> None:
    heard = {json.dumps(one.message["params"].get("progressToken")) for one in session.heard_of(PROGRESS)}
    if not heard:
        raise NotApplicable("the server sends no progress of tasks on such a stream")
    sent = {json.dumps(token) for token in TOKENS}
    expect(
        heard == sent, f"sent: tasks with the progressTokens {sorted(sent)}\ncame: {sorted(heard)}\nwanted: the same"
    )


def _tells_the_end(one: Heard, task_id: str) -> bool:
    params = one.message.get("params") or {}
    is_news = one.message.get("method") == "notifications/tasks/status" and params.get("taskId") == task_id
    return is_news and params.get("status") in TERMINAL
