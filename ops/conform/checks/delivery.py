"""Each message goes out on one stream."""

from collections import Counter

from ops.conform.check import NotApplicable, check
from ops.conform.checks.elicitation import ACCEPTED, QUESTION
from ops.conform.checks.streams import listen_everywhere
from ops.conform.exchange import Exchange
from ops.conform.reply import expect, show
from ops.conform.server import FORM, Server
from ops.conform.session import Session


@check("H-27 X-8", "MUST", "a question is asked once, whoever listens on whatever node", tools=("elicit",))
async def question_is_asked_once(server: Server) -> None:
    session = await server.open(FORM)
    await listen_everywhere(session)
    task_id = (await session.call_task("elicit", QUESTION)).task_id
    waiting = await _wait_everywhere(session, task_id)
    asked = (await session.hear("elicitation/create")).message
    await session.answer(asked, ACCEPTED)
    for exchange in waiting:
        await exchange.reply()
    questions = [one.message for one in session.heard_of("elicitation/create")]
    expect(
        len(questions) == 1,
        f"came, with two tasks/result and GET streams open: {show(questions)}\nwanted: one question",
    )


@check("H-27", "MUST", "a notification is sent once, whoever listens on whatever node", tools=("progress",))
async def notification_is_sent_once(server: Server) -> None:
    session = await server.open()
    await listen_everywhere(session)
    task_id = (await session.call_task("progress", {"steps": 10}, _meta={"progressToken": "h27"})).task_id
    for exchange in await _wait_everywhere(session, task_id):
        await exchange.reply()
    sent = Counter(
        show((one.message.get("params") or {}).get("progress")) for one in session.heard_of("notifications/progress")
    )
    if not sent:
        raise NotApplicable("no progress of a task was sent")
    repeated = {step: count for step, count in sent.items() if count > 1}
    expect(
        not repeated, f"progress that came more than once, and how often: {show(repeated)}\nwanted: each on one stream"
    )


async def _wait_everywhere(session: Session, task_id: str) -> list[Exchange]:
    return [session.begin("tasks/result", {"taskId": task_id}, node) for node in (0, 1)]
