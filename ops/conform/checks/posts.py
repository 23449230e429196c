"""What a POST may be, and how it is refused."""

from ops.conform.check import check
from ops.conform.server import Server


@check("H-03", "MUST", "a foreign Origin is refused with 403")
async def foreign_origin(server: Server) -> None:
    session = await server.open()
    for verb, body in (("POST", session.frame("ping")), ("GET", None), ("DELETE", None)):
        reply = await session.send(body, headers={"origin": "http://evil.example"}, verb=verb)
        reply.expect(reply.status == 403 or (verb != "POST" and reply.status == 405), "HTTP status 403")


@check("H-05", "SHOULD", "a batch is refused with 400")
async def batch(server: Server) -> None:
    session = await server.open()
    (await session.send([session.frame("ping"), session.frame("ping")])).expect_status(400)


@check("H-06", "MUST", "a notification is accepted with 202 and no body")
async def accepted_without_body(server: Server) -> None:
    session = await server.open()
    reply = await session.notify("notifications/cancelled", {"requestId": "never-sent"})
    reply.expect(reply.status == 202 and not reply.body, "HTTP status 202 and no body")


@check("H-34", "MUST", "an MCP-Protocol-Version that it does not have is refused with 400")
async def unknown_version(server: Server) -> None:
    session = await server.open()
    reply = await session.request("ping", headers={"mcp-protocol-version": "1999-01-01"})
    reply.expect_status(400)
