"""What a task asks its requestor's user."""

from ops.client.reply import expect, show
from ops.conform.check import check
from ops.conform.checks.results import RELATED_TASK
from ops.conform.server import FORM, Server

ACCEPTED = {"action": "accept", "content": {"answer": "blue"}}
QUESTION = {"message": "Which colour?"}


@check("T-37", "SHOULD", "a task that has a question becomes input_required", tools=("elicit",))
async def becomes_input_required(server: Server) -> None:
    session = await server.open(FORM)
    task_id = (await session.call_task("elicit", QUESTION)).task_id
    await session.wait_until(task_id, "input_required")


@check("T-38 T-54 T-53", "MUST", "a question names its task in _meta", tools=("elicit",))
async def question_names_its_task(server: Server) -> None:
    session = await server.open(FORM)
    task_id = (await session.call_task("elicit", QUESTION)).task_id
    session.begin("tasks/result", {"taskId": task_id}, node=1)
    asked = (await session.hear("elicitation/create")).message
    related = asked["params"].get("_meta", {}).get(RELATED_TASK)
    expect(related == {"taskId": task_id}, f"came: {show(asked)}\nwanted: params._meta names the task {task_id}")


@check("T-40", "SHOULD", "a task whose question is answered goes on", tools=("elicit",))
async def goes_on_when_answered(server: Server) -> None:
    session = await server.open(FORM)
    task_id = (await session.call_task("elicit", QUESTION)).task_id
    result = session.begin("tasks/result", {"taskId": task_id})
    asked = (await session.hear("elicitation/create")).message
    (await session.answer(asked, ACCEPTED, node=1)).expect_status(202)
    await session.wait_until(task_id, "completed")
    reply = await result.reply()
    reply.expect(reply.result["content"][0]["text"] == "accept blue", "the text `accept blue`, the answer given")
