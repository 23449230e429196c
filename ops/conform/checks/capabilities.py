"""What a server asks of a client that did not declare that it can be asked."""

from collections.abc import Mapping
from typing import Any

from ops.client.reply import expect, show
from ops.conform.check import check
from ops.conform.checks.elicitation import QUESTION
from ops.conform.checks.streams import listen_everywhere
from ops.conform.server import FORM, Server

SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "blue"}, "model": "none", "stopReason": "endTurn"}


@check("L-02", "MUST", "nothing is elicited from a client that did not declare elicitation", tools=("elicit",))
async def elicits_only_where_declared(server: Server) -> None:
    answers = {"elicitation/create": {"action": "decline"}}
    await _expect_no_request(server, {"sampling": {}}, answers, "elicit", QUESTION)


@check("L-02", "MUST", "a client that did not declare sampling is not asked for its model", tools=("sample",))
async def samples_only_where_declared(server: Server) -> None:
    await _expect_no_request(server, FORM, {"sampling/createMessage": SAMPLED}, "sample", {"prompt": "A colour?"})


async def _expect_no_request(
    server: Server, capabilities: Mapping[str, Any], answers: Mapping[str, Any], role: str, arguments: Mapping[str, Any]
) -> None:
    """Calls a tool that wants to ask; what it asks all the same is answered, so that it ends in any case."""
    session = await server.open(capabilities, answers=answers)
    await listen_everywhere(session)
    await session.call(role, arguments)
    if server.declares("tasks.requests.tools.call"):
        created = await session.call_task(role, arguments)
        if "result" in (created.message or {}):  # to be refused is as good
            await session.get_result(created.task_id, node=1)
    for method in answers:
        asked = [show(one.message) for one in session.heard_of(method)]
        expect(
            not asked, f"came: {', '.join(asked)}\nwanted: no {method}, for the client declared {show(capabilities)}"
        )
