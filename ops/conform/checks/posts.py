"""What a POST may be, and how it is refused."""

from urllib.parse import urlsplit

from ops.client.reply import Reply
from ops.client.session import Headers
from ops.conform.check import NotApplicable, check
from ops.conform.checks.tools import text_of
from ops.conform.server import Server
from ops.conform.session import Session

VERBS = ("POST", "GET", "DELETE")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
SCRIPTS = "Größe, Привет, 世界, \u2028 and \U0001f600"  # of two, three and four bytes, and a line separator
NOT_UTF8 = b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": {"text": "\xff\xfe"}}}'


async def send_nothing(session: Session, verb: str, node: int, headers: Headers) -> Reply:
    """The reply to a ping, a GET or a DELETE that is to be refused; a stream that opens all the same is dropped."""
    exchange = await session.start(verb, session.frame("ping") if verb == "POST" else None, node, headers).opened()
    if verb == "GET" and exchange.status == 200:
        await exchange.drop()
    return await exchange.reply()


@check("H-01", "MUST", "text in any script comes back as it was sent, in UTF-8", tools=("echo",))
async def text_is_utf8(server: Server) -> None:
    session = await server.open()
    for node in (0, 1):
        reply = await session.call("echo", {"text": SCRIPTS}, node)
        reply.expect(text_of(reply) == SCRIPTS, f"the text that was sent, {SCRIPTS!r}")


@check("H-01", "SHOULD", "a body that is not UTF-8 is refused, and the server goes on")
async def not_utf8(server: Server) -> None:
    session = await server.open()
    for node in (0, 1):
        reply = await session.send(NOT_UTF8, node)
        wanted = "a refusal, for JSON-RPC is UTF-8: HTTP 4xx, or a JSON-RPC error"
        reply.expect(reply.status < 500 and (reply.status >= 400 or "error" in (reply.message or {})), wanted)
        (await session.request("ping", node=node)).expect_status(200)


@check("H-03", "MUST", "a foreign Origin is refused with 403")
async def foreign_origin(server: Server) -> None:
    session = await server.open()
    await _refused_with_403(session, {"origin": "http://evil.example"})


@check("H-03", "SHOULD", "the Origin of a sandboxed frame, null, is refused with 403")
async def null_origin(server: Server) -> None:
    session = await server.open()
    await _refused_with_403(session, {"origin": "null"})


@check("H-03", "SHOULD", "a server on loopback refuses a foreign Host, as DNS rebinding has it")
async def foreign_host(server: Server) -> None:
    session = await server.open()
    for node in (0, 1):
        if urlsplit(server.url(node)).hostname not in LOOPBACK:
            raise NotApplicable("only a server on loopback can tell that a Host is foreign")
        headers = {"host": "evil.example", "origin": "http://evil.example"}
        reply = await session.request("ping", node=node, headers=headers)
        reply.expect(400 <= reply.status < 500, "HTTP status 4xx for `Host: evil.example`")
        reply = await session.request("ping", node=node, headers={"host": "evil.example"})
        reply.expect(400 <= reply.status < 500, "HTTP status 4xx for `Host: evil.example`, without an Origin too")


@check("H-05", "SHOULD", "a batch is refused with 400")
async def batch(server: Server) -> None:
    session = await server.open()
    (await session.send([session.frame("ping"), session.frame("ping")])).expect_status(400)


@check("H-06", "MUST", "a notification is accepted with 202 and no body")
async def accepted_without_body(server: Server) -> None:
    session = await server.open()
    for method in ("notifications/cancelled", "notifications/initialized"):
        reply = await session.notify(method, {"requestId": "never-sent"} if "cancelled" in method else None, node=1)
        reply.expect(reply.status == 202 and not reply.body, "HTTP status 202 and no body")


@check("H-08", "MUST", "a request is answered by JSON or by an event stream", tools=("echo",))
async def json_or_stream(server: Server) -> None:
    session = await server.open()
    call = session.call_params("echo", {"text": "hello"})
    for node in (0, 1):
        for method, params in (("ping", None), ("tools/list", {}), ("tools/call", call)):
            reply = await session.request(method, params, node)
            type_ = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
            wanted = f"Content-Type: application/json or text/event-stream, not {type_!r}"
            reply.expect(type_ in ("application/json", "text/event-stream"), wanted)
            reply.expect(reply.result is not None, "a result in it")


@check("H-33", "SHOULD", "a request without MCP-Protocol-Version is taken")
async def without_version(server: Server) -> None:
    session = await server.open()
    for node in (0, 1):
        reply = await session.request("ping", node=node, headers={"mcp-protocol-version": None})
        answer = (reply.message or {}).get("result")
        reply.expect(answer == {}, "the result `{}`: the version is that of the session, or 2025-03-26")


@check("H-34", "MUST", "an MCP-Protocol-Version that it does not have is refused with 400")
async def unknown_version(server: Server) -> None:
    session = await server.open()
    for version in ("1999-01-01", "latest"):
        for verb in VERBS:
            reply = await send_nothing(session, verb, 1, {"mcp-protocol-version": version})
            reply.expect(
                reply.status == 400 or (verb != "POST" and reply.status == 405),
                f"HTTP status 400 for `MCP-Protocol-Version: {version}`",
            )


async def _refused_with_403(session: Session, headers: Headers) -> None:
    for node in (0, 1):
        for verb in VERBS:
            reply = await send_nothing(session, verb, node, headers)
            wanted = f"HTTP status 403 for `Origin: {headers['origin']}`"
            reply.expect(reply.status == 403 or (verb != "POST" and reply.status == 405), wanted)
