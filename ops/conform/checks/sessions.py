"""Sessions."""

from ops.conform.check import NotApplicable, check
from ops.conform.server import Server


@check("H-30", "MUST", "a session that was ended is answered with 404, on every node")
async def ended_session(server: Server) -> None:
    session = await server.open()
    if session.id is None:
        raise NotApplicable("the server has no sessions")
    if (await session.send(verb="DELETE")).status == 405:
        raise NotApplicable("clients can't end a session (405)")  # H-31
    (await session.request("ping", node=1)).expect_status(404)
