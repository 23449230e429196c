"""Who waits for a task, who leaves, and who comes back."""

import asyncio
from contextlib import suppress
from functools import partial

from ops.client.exchange import Exchange
from ops.client.reply import Reply, expect
from ops.conform.check import check
from ops.conform.server import FORM, Server
from ops.conform.session import Session

ACCEPT = {"action": "accept", "content": {"answer": "blue"}}
MANY = 12
HEAD_SECONDS = 0.3


@check("T-51 X-12", "MUST", "who asks for the result while the task ends gets it, and no other", tools=("echo",))
async def result_while_it_ends(server: Server) -> None:
    session = await server.open()

    async def run_one(number: int) -> tuple[str, Reply]:
        text = f"echo {number}"
        task_id = (await session.call_task("echo", {"text": text}, number % 2)).task_id
        return text, await session.get_result(task_id, node=(number + 1) % 2)

    for text, reply in await asyncio.gather(*map(run_one, range(MANY))):
        reply.expect(_text(reply) == text, f"the text `{text}`, with which the task was created")


@check("T-51", "MUST", "everyone who waits gets the result, on every node and in every session", tools=("sleep",))
async def every_waiter_is_answered(server: Server) -> None:
    sessions = await _open_sessions(server)
    task_id = (await sessions[0].call_task("sleep", {"seconds": 1})).task_id
    first, *others = await asyncio.gather(
        *(session.get_result(task_id, node) for session in sessions for node in (0, 1))
    )
    first.expect(first.result.get("content"), "the result")
    for other in others:
        other.expect(other.result == first.result, f"what the first of {len(others) + 1} waiters got, {first.result}")


@check("T-51", "MUST", "tasks/result goes on to block while the task asks", tools=("elicit",))
async def blocks_through_input(server: Server) -> None:
    session = await server.open(FORM)
    task_id = (await session.call_task("elicit", {"message": "Which colour?"})).task_id
    waiting = [session.begin("tasks/result", {"taskId": task_id}, node) for node in (0, 1)]
    asked = (await session.hear("elicitation/create")).message
    task = await session.wait_until(task_id, "input_required", node=1)
    for exchange in waiting:
        early = f"tasks/result was answered with {exchange.answer}, though {task}\nwanted: no answer before the end"
        expect(exchange.answer is None, early)
    await session.answer(asked, ACCEPT, node=1)
    for exchange in waiting:
        reply = await exchange.reply()
        reply.expect(_text(reply) == "accept blue", "the text `accept blue`, the answer given")


@check(
    "T-51 T-50 X-2", "MUST", "who waits for a task that is cancelled is answered", tools=("sleep",),
    needs=("tasks.cancel",),
)  # fmt: skip
async def cancel_ends_the_wait(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 300})).task_id
    waiting = [session.begin("tasks/result", {"taskId": task_id}, node) for node in (0, 1)]
    await session.get_task(task_id)
    await session.cancel_task(task_id, node=1)
    for exchange in waiting:
        _expect_answered(await exchange.reply())


@check("T-50 X-2", "MUST", "tasks/result of a cancelled task is answered", tools=("sleep",), needs=("tasks.cancel",))
async def result_of_cancelled(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 300})).task_id
    await session.cancel_task(task_id)
    for node in (0, 1):
        _expect_answered(await session.get_result(task_id, node))


@check("T-50", "MUST", "a result can be fetched again, on every node and in every session", tools=("echo",))
async def result_is_kept(server: Server) -> None:
    sessions = await _open_sessions(server)
    task_id = (await sessions[0].call_task("echo", {"text": "hello"})).task_id
    first = await sessions[0].get_result(task_id)
    for session in sessions:
        for node in (0, 1):
            again = await session.get_result(task_id, node)
            again.expect(again.result == first.result, f"the result as it was fetched before, {first.result}")


@check("T-16", "MUST", "to leave a tasks/get does nothing to the task", tools=("sleep",))
async def left_get_changes_nothing(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 60})).task_id
    for node in (0, 1):
        await session.begin("tasks/get", {"taskId": task_id}, node).drop()
        left = session.begin("tasks/get", {"taskId": task_id}, node)
        await left.opened()
        await left.drop()
    await _expect_at_work(session, task_id)


@check("T-21 T-51", "MUST", "to leave a tasks/result does nothing to the task", tools=("sleep",))
async def left_result_changes_nothing(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 300})).task_id
    await _leave(session, task_id)
    await _expect_at_work(session, task_id)


@check("T-21 T-51", "MUST", "who left a tasks/result gets the result later", tools=("sleep",))
async def result_after_leaving(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 1})).task_id
    await _leave(session, task_id)
    reply = await session.get_result(task_id, node=1)
    reply.expect(reply.result.get("content"), "the result")


@check("T-20", "MUST", "tasks/get is answered while a tasks/result waits", tools=("sleep",))
async def get_while_result_waits(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 300})).task_id
    session.begin("tasks/result", {"taskId": task_id})
    await _expect_at_work(session, task_id)


async def _open_sessions(server: Server) -> list[Session]:
    """Two of one user; one alone where nobody is known: then a session may be all that a task can be bound to."""
    return [await server.open(node=node) for node in ((0, 1) if server.target.tokens else (0,))]


async def _leave(session: Session, task_id: str) -> None:
    """Drops a tasks/result on each node, when the response has begun if the server begins it before the end."""
    for node in (0, 1):
        waiting = session.begin("tasks/result", {"taskId": task_id}, node)
        with suppress(TimeoutError):
            async with asyncio.timeout(HEAD_SECONDS):
                await waiting.until(partial(_status_of, waiting))
        await waiting.drop()


def _status_of(exchange: Exchange) -> int | None:
    return exchange.status or None


async def _expect_at_work(session: Session, task_id: str) -> None:
    for node in (0, 1, 0):
        task = await session.get_task(task_id, node)
        task.expect(task.result.get("status") == "working", "`working`, as before")


def _expect_answered(reply: Reply) -> None:
    message = reply.message or {}
    fits = isinstance(message.get("error"), dict) or isinstance((message.get("result") or {}).get("content"), list)
    reply.expect(fits, "a result of the tool, or a JSON-RPC error, as the task is terminal")


def _text(reply: Reply) -> str | None:
    blocks = reply.result.get("content")
    return blocks[0].get("text") if isinstance(blocks, list) and blocks else None
