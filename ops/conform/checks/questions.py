"""How questions reach a client."""

from collections.abc import Sequence

from ops.client.reply import expect, show
from ops.client.session import Heard
from ops.conform.check import check
from ops.conform.checks.results import RELATED_TASK
from ops.conform.inquiry import BLUE, ELICIT, QUESTION, first_text, inquire, ways
from ops.conform.server import FORM, Server

GREEN = {"action": "accept", "content": {"answer": "green"}}
TIMES = 3


@check("X-8 H-27", "MUST", "a question goes out on one stream, however many are open", tools=("elicit",))
async def asked_once(server: Server) -> None:
    session = await server.open(FORM, answers={ELICIT: BLUE})
    for node in (0, 1):
        await session.start("GET", None, node).opened()
    task_id = (await session.call_task("elicit", {**QUESTION, "times": TIMES})).task_id
    for node in (0, 1):
        session.begin("tasks/result", {"taskId": task_id}, node)
    # What is broadcast has come on all streams by then: the last question follows the answer to the one before.
    await session.wait_until(task_id, "completed")
    heard = session.heard_of(ELICIT)
    twice = _heard_twice(heard)
    expect(
        len(heard) <= TIMES or not twice,  # a server that uses an id again fails asked_in_turn
        f"two tasks/result and GET streams were open at two nodes\ncame on more than one: {show(twice)}\n"
        "wanted: each request of the server's on one stream alone",
    )


@check("L-05 T-54", "MUST", "two questions, one after the other, have ids of their own", tools=("elicit",))
async def asked_in_turn(server: Server) -> None:
    for as_task in ways(server, "elicit"):
        session = await server.open(FORM)
        inquiry = await inquire(session, "elicit", {**QUESTION, "times": 2}, as_task=as_task)
        first = await inquiry.question()
        await session.answer(first, BLUE)
        second = await inquiry.question(count=2)
        expect(second["id"] != first["id"], f"came: {show([first, second])}\nwanted: an id that was not used before")
        if as_task:
            related = [asked["params"].get("_meta", {}).get(RELATED_TASK) for asked in (first, second)]
            wanted = {"taskId": inquiry.task_id}
            expect(related == [wanted] * 2, f"came: {show([first, second])}\nwanted: both name the task {wanted}")
        await session.answer(second, GREEN)
        reply = await inquiry.call.reply()
        reply.expect(first_text(reply) == "accept green", "the text `accept green`, the last answer")


def _heard_twice(heard: Sequence[Heard]) -> list[object]:
    """The ids that came on two streams that were open both.  A GET stream that ended may have lost its question."""
    streams: dict[object, list[Heard]] = {}
    for one in heard:
        streams.setdefault(one.message.get("id"), []).append(one)
    return [id for id, all in streams.items() if any(_is_open(one) for one in all[:-1])]


def _is_open(heard: Heard) -> bool:
    return not (heard.exchange.sent is None and heard.exchange.ended)
