"""A session id is no credential."""

from ops.client.session import Headers
from ops.conform.check import NotApplicable, check
from ops.conform.checks.posts import VERBS, send_nothing
from ops.conform.server import Server
from ops.conform.session import Session


@check("S-01", "MUST", "a session id without a token is refused with 401", needs=("token",))
async def token_is_missing(server: Server) -> None:
    await _expect_401(await server.open(), {"authorization": None})


@check("S-01", "MUST", "a session id with a token that is not valid is refused with 401", needs=("token",))
async def token_is_not_valid(server: Server) -> None:
    session = await server.open()
    await _expect_401(session, {"authorization": "Bearer no-such-token"})


@check("S-01", "MUST", "a session can't be used or ended by another user", needs=("token2",))
async def session_of_another_user(server: Server) -> None:
    session = await server.open()
    if session.id is None:
        raise NotApplicable("the server has no sessions")
    headers = {"authorization": server.authorization(1)}
    for node in (0, 1):
        for verb in VERBS:
            reply = await send_nothing(session, verb, node, headers)
            reply.expect(400 <= reply.status < 500, "HTTP status 4xx: the session is another user's")
    reply = await session.request("ping")
    reply.expect(reply.result == {}, "the result `{}`, for the session is still its owner's")


async def _expect_401(session: Session, headers: Headers) -> None:
    for node in (0, 1):
        for verb in VERBS:
            reply = await send_nothing(session, verb, node, headers)
            reply.expect(
                reply.status == 401 or (verb != "POST" and reply.status == 405), "HTTP status 401, on every request"
            )
    (await session.request("ping")).expect_status(200)
