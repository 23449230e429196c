"""Who may answer what a client was asked, and where."""

from dataclasses import replace

from ops.conform.check import NotApplicable, check
from ops.conform.inquiry import BLUE, QUESTION, Inquiry, first_text, inquire, ways
from ops.conform.server import FORM, Server
from ops.conform.session import Session

RED = {"action": "accept", "content": {"answer": "red"}}


@check(
    "E-05 S-01", "MUST", "another user's answer has no effect, not even with the session's id", tools=("elicit",),
    needs=("token2",),
)  # fmt: skip
async def answered_by_another_user(server: Server) -> None:
    for as_task in ways(server, "elicit"):
        asked, other = await server.open(FORM), await server.open(FORM, user=1)
        thief = replace(asked, user=1, heard=[])
        await _answer_in_turn(await inquire(asked, "elicit", QUESTION, as_task=as_task), other, thief)


@check("E-05", "MUST", "an answer from a session that was not asked has no effect", tools=("elicit",))
async def answered_by_another_session(server: Server) -> None:
    for as_task in ways(server, "elicit"):
        asked, other = await server.open(FORM), await server.open(FORM)
        if asked.id is None:
            raise NotApplicable("the server has no sessions")
        await _answer_in_turn(await inquire(asked, "elicit", QUESTION, as_task=as_task), other)


@check(
    "X-9", "MUST", "an answer counts on whatever node it comes, by its id alone", tools=("elicit",), needs=("url2",)
)  # fmt: skip
async def answered_on_the_other_node(server: Server) -> None:
    for as_task in ways(server, "elicit"):
        session = await server.open(FORM)
        await _answer(await inquire(session, "elicit", QUESTION, as_task=as_task), node=1)


async def _answer_in_turn(inquiry: Inquiry, *others: Session) -> None:
    """The others answer before the one that was asked does."""
    asked = await inquiry.question()
    for node, other in enumerate(others):
        await other.answer(asked, RED, node)  # with what status it is refused is a matter of H-07
    await _answer(inquiry)


async def _answer(inquiry: Inquiry, node: int = 0) -> None:
    await inquiry.session.answer(await inquiry.question(), BLUE, node)
    reply = await inquiry.call.reply()
    reply.expect(
        first_text(reply) == "accept blue", "the text `accept blue`: what the session that was asked has answered"
    )
