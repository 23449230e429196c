"""Progress of plain calls.  That of tasks is with the tasks."""

from collections.abc import Sequence

from ops.client.reply import Reply, expect, show
from ops.client.stream import Message
from ops.conform.check import NotApplicable, check
from ops.conform.checks.streams import listen_everywhere, progress_on
from ops.conform.server import Server
from ops.conform.session import Session

TOKENS = ("l08", "", "0", 0, 7, -1)
NO_TOKENS: Sequence[object] = (1.5, True, {}, ["l08"])
STEPS = 5


@check("L-08", "MUST", "a progressToken comes back as it was, a string or an integer", tools=("progress",))
async def tokens_keep_their_type(server: Server) -> None:
    session = await server.open()
    for number, token in enumerate(TOKENS):
        reply, reported = await _report(session, token, node=number % 2)
        for params in reported:
            came = params.get("progressToken")
            reply.expect(type(came) is type(token) and came == token, f"`progressToken` {token!r}, not {came!r}")


@check(
    "L-08",
    "SHOULD",
    "a progressToken that is neither a string nor an integer is refused with -32602, or ignored",
    tools=("progress",),
)
async def bad_tokens(server: Server) -> None:
    session = await server.open()
    await listen_everywhere(session)
    for number, token in enumerate(NO_TOKENS):
        params = session.call_params("progress", {"steps": 2}, _meta={"progressToken": token})
        reply = await session.request("tools/call", params, node=number % 2)
        if "error" in (reply.message or {}):
            reply.expect_error(-32602)
        reported = session.heard_of("notifications/progress")
        reply.expect(not reported, f"the error -32602, or no progress for the token {token!r}")


@check("L-08", "MUST", "progress rises with every notification", tools=("progress",))
async def progress_of_calls_rises(server: Server) -> None:
    session = await server.open()
    for node in (0, 1):
        reply, reported = await _report(session, f"l08-{node}", node)
        steps = [params.get("progress") for params in reported]
        numbers = [step for step in steps if isinstance(step, int | float) and not isinstance(step, bool)]
        reply.expect(numbers == steps, f"`progress`, a number, not {steps}")
        reply.expect(sorted(set(numbers)) == numbers, f"`progress` that rises, not {steps}")


@check("L-08", "MUST", "there is no progress where no token was given", tools=("progress",))
async def no_progress_without_token(server: Server) -> None:
    session = await server.open()
    await listen_everywhere(session)
    for node in (0, 1):
        await session.call("progress", {"steps": 3}, node)
    reported = [one.message for one in session.heard_of("notifications/progress")]
    expect(not reported, f"came: {show(reported)}\nwanted: no progress for a call without a progressToken")


async def _report(session: Session, token: object, node: int) -> tuple[Reply, list[Message]]:
    """A call, and what it reported on its stream; NotApplicable if that is nothing, which is allowed."""
    params = session.call_params("progress", {"steps": STEPS}, _meta={"progressToken": token})
    exchange = session.begin("tools/call", params, node)
    reply = await exchange.reply()
    reply.expect("error" not in (reply.message or {}), f"a result: {token!r} is a progressToken")
    if not (reported := progress_on(exchange)):
        raise NotApplicable(f"no progress came for the token {token!r}")
    return reply, reported
