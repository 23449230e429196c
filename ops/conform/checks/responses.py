"""What clients answer to the server's requests: accepted, refused, or without effect."""

from ops.conform.check import check
from ops.conform.checks.elicitation import ACCEPTED, QUESTION
from ops.conform.checks.tools import text_of
from ops.conform.server import FORM, Server
from ops.conform.session import TERMINAL


@check("H-06 X-9", "MUST", "an answer is accepted with 202 and no body, on any node", tools=("elicit",))
async def answer_without_body(server: Server) -> None:
    session = await server.open(FORM)
    task_id = (await session.call_task("elicit", QUESTION)).task_id
    session.begin("tasks/result", {"taskId": task_id})
    asked = (await session.hear("elicitation/create")).message
    reply = await session.answer(asked, ACCEPTED, node=1)
    reply.expect(reply.status == 202 and not reply.body, "HTTP status 202 and no body")


@check("H-07", "SHOULD", "an answer to what was never asked is refused, and the session goes on")
async def answer_never_asked_for(server: Server) -> None:
    session = await server.open(FORM)
    for node, id in ((0, "never-asked"), (1, 999_999), (0, 0)):
        reply = await session.answer({"id": id}, ACCEPTED, node)
        reply.expect(400 <= reply.status < 500, "HTTP status 4xx: there is no request that it could answer")
        (await session.request("ping", node=node)).expect_status(200)


@check("H-07", "MUST", "a repeated answer has no effect", tools=("elicit",))
async def repeated_answer(server: Server) -> None:
    session = await server.open(FORM)
    task_id = (await session.call_task("elicit", {**QUESTION, "times": 2})).task_id
    result = session.begin("tasks/result", {"taskId": task_id})
    first = (await session.hear("elicitation/create")).message
    (await session.answer(first, ACCEPTED)).expect_status(202)
    second = (await session.hear("elicitation/create", 2)).message
    again = await session.answer(first, {"action": "accept", "content": {"answer": "red"}}, node=1)
    again.expect(again.status < 500, "HTTP status 202, or 4xx")
    task = await session.get_task(task_id, node=1)
    task.expect(task.result.get("status") not in TERMINAL, "a task that goes on, for its second question is open")
    await session.answer(second, {"action": "accept", "content": {"answer": "green"}})
    reply = await result.reply()
    reply.expect(text_of(reply) == "accept green", "the text `accept green`, the answer to the last question")


@check("H-07 S-01", "MUST", "nobody answers what another user was asked", tools=("elicit",), needs=("token2",))
async def answer_of_another_user(server: Server) -> None:
    session, other = await server.open(FORM), await server.open(FORM, user=1)
    task_id = (await session.call_task("elicit", QUESTION)).task_id
    result = session.begin("tasks/result", {"taskId": task_id})
    asked = (await session.hear("elicitation/create")).message
    for node in (0, 1):
        reply = await other.answer(asked, {"action": "accept", "content": {"answer": "red"}}, node)
        reply.expect(reply.status < 500, "HTTP status 4xx, or 202 and no effect")
    await session.answer(asked, ACCEPTED)
    reply = await result.reply()
    reply.expect(text_of(reply) == "accept blue", "the text `accept blue`, the answer of the user who was asked")
