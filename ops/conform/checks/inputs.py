"""What a task needs of its requestor: input_required, and how it goes on."""

from typing import Any

from ops.client.reply import Reply, expect, show
from ops.conform.check import check
from ops.conform.checks.results import RELATED_TASK
from ops.conform.server import FORM, Server
from ops.conform.session import Session

QUESTION = {"message": "Which colour?"}
MODEL_SAYS = {"role": "assistant", "content": {"type": "text", "text": "blue"}, "model": "m", "stopReason": "endTurn"}


@check("T-37", "SHOULD", "input_required is there on every node until the answer is", tools=("elicit",))
async def input_required_on_every_node(server: Server) -> None:
    session = await server.open(FORM)
    task_id = (await session.call_task("elicit", QUESTION)).task_id
    await session.wait_until(task_id, "input_required")
    for node in (1, 0, 1):
        reply = await session.get_task(task_id, node)
        reply.expect(reply.result.get("status") == "input_required", "`input_required`, as nobody has answered")


@check("T-36", "SHOULD", "tasks/get is answered without an event stream while the task asks", tools=("elicit",))
async def get_without_stream_while_asking(server: Server) -> None:
    session = await server.open(FORM)
    task_id = (await session.call_task("elicit", QUESTION)).task_id
    reply = await session.wait_until(task_id, "input_required")
    reply.expect(not reply.is_stream, f"Content-Type: application/json, not {reply.headers.get('content-type')}")


@check("T-37 T-39", "SHOULD", "who calls tasks/result of a task that asks is asked, on any node", tools=("elicit",))
async def late_waiter_is_asked(server: Server) -> None:
    session = await server.open(FORM)
    task_id = (await session.call_task("elicit", QUESTION)).task_id
    await session.wait_until(task_id, "input_required")
    session.begin("tasks/result", {"taskId": task_id}, node=1)
    asked = (await session.hear("elicitation/create")).message
    text = asked["params"].get("message")
    expect(text == QUESTION["message"], f"came: {show(asked)}\nwanted: the question `{QUESTION['message']}`")


@check("T-40 T-33", "SHOULD", "a task asks again, and goes on with each answer", tools=("elicit",))
async def asks_again(server: Server) -> None:
    session = await server.open(FORM)
    task_id = (await session.call_task("elicit", {**QUESTION, "times": 2})).task_id
    result = session.begin("tasks/result", {"taskId": task_id})
    first = (await session.hear("elicitation/create")).message
    (await session.answer(first, _accept("blue"), node=1)).expect_status(202)
    second = (await session.hear("elicitation/create", where=lambda message: message["id"] != first["id"])).message
    await session.wait_until(task_id, "input_required", node=1)
    (await session.answer(second, _accept("green"))).expect_status(202)
    _expect_text(await result.reply(), "accept green")


@check("T-40", "SHOULD", "a task whose question is declined or dismissed goes on", tools=("elicit",))
async def goes_on_when_declined(server: Server) -> None:
    session = await server.open(FORM)
    for action in ("decline", "cancel"):
        task_id = (await session.call_task("elicit", QUESTION)).task_id
        result = session.begin("tasks/result", {"taskId": task_id}, node=1)
        asked = await _hear_question_of(session, task_id)
        (await session.answer(asked, {"action": action})).expect_status(202)
        _expect_text(await result.reply(), action)


@check("T-38 T-53", "MUST", "a request for the client's model names its task in _meta", tools=("sample",))
async def sampling_names_its_task(server: Server) -> None:
    session = await server.open({"sampling": {}}, answers={"sampling/createMessage": MODEL_SAYS})
    task_id = (await session.call_task("sample", {"prompt": "A colour?"})).task_id
    result = session.begin("tasks/result", {"taskId": task_id}, node=1)
    asked = (await session.hear("sampling/createMessage")).message
    related = asked["params"].get("_meta", {}).get(RELATED_TASK)
    expect(related == {"taskId": task_id}, f"came: {show(asked)}\nwanted: params._meta names the task {task_id}")
    _expect_text(await result.reply(), "blue")


async def _hear_question_of(session: Session, task_id: str) -> dict[str, Any]:
    def is_its(message: dict[str, Any]) -> bool:
        related = message["params"].get("_meta", {}).get(RELATED_TASK)
        return isinstance(related, dict) and related.get("taskId") == task_id

    return (await session.hear("elicitation/create", where=is_its)).message


def _accept(answer: str) -> dict[str, Any]:
    return {"action": "accept", "content": {"answer": answer}}


def _expect_text(reply: Reply, text: str) -> None:
    texts = [block.get("text") for block in reply.result.get("content", [])]
    reply.expect(texts == [text], f"the text `{text}`")
