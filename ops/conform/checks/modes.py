"""What a client is asked, by what it declared."""

from collections.abc import Mapping
from typing import Any

from ops.client.reply import expect, show
from ops.conform.check import check
from ops.conform.inquiry import BLUE, ELICIT, LINK, PROMPT, QUESTION, SAID, SAMPLE, first_text, inquire, ways
from ops.conform.server import FORM, Server


@check("E-01 L-02", "MUST", "a client that declares no elicitation is asked nothing", tools=("elicit",))
async def no_elicitation_undeclared(server: Server) -> None:
    await _expect_no_question(server, "elicit", QUESTION, {})
    await _expect_no_question(server, "elicit", QUESTION, {"sampling": {}})


@check("E-01", "MUST", "a client that declares forms alone is not asked to open a url", tools=("elicit_url",))
async def no_url_undeclared(server: Server) -> None:
    await _expect_no_question(server, "elicit_url", LINK, FORM)
    await _expect_no_question(server, "elicit_url", LINK, {"elicitation": {}})  # the same as forms alone


@check("E-01", "MUST", "a client that declares urls alone is sent no form", tools=("elicit",))
async def no_form_undeclared(server: Server) -> None:
    await _expect_no_question(server, "elicit", QUESTION, {"elicitation": {"url": {}}})


@check("E-01", "MUST", "a client that declares `elicitation: {}` can be sent a form", tools=("elicit",))
async def empty_means_forms(server: Server) -> None:
    for as_task in ways(server, "elicit"):
        session = await server.open({"elicitation": {}}, answers={ELICIT: BLUE})
        reply = await (await inquire(session, "elicit", QUESTION, as_task=as_task)).call.reply()
        is_asked = session.heard_of(ELICIT) and first_text(reply) == "accept blue"
        reply.expect(is_asked, f"an {ELICIT} for a form before, and its answer in the text: `accept blue`")


@check("E-08 L-02", "MUST", "a client that declares no sampling is sent no request for it", tools=("sample",))
async def no_sampling_undeclared(server: Server) -> None:
    await _expect_no_question(server, "sample", PROMPT, FORM)


async def _expect_no_question(
    server: Server, role: str, arguments: Mapping[str, Any], capabilities: Mapping[str, Any]
) -> None:
    for as_task in ways(server, role):
        # A question that should not be is answered, so that the call has an end either way.
        session = await server.open(capabilities, answers={ELICIT: {"action": "cancel"}, SAMPLE: SAID})
        reply = await (await inquire(session, role, arguments, as_task=as_task)).call.reply()
        reply.expect(reply.message, "an answer, whatever it is")
        asked = [*session.heard_of(ELICIT), *session.heard_of(SAMPLE)]
        expect(
            not asked,
            f"the client declared {show(capabilities)} and called {server.tool(role)}\n"
            f"came: {show([one.message for one in asked])}\nwanted: no request that its capabilities do not allow",
        )
