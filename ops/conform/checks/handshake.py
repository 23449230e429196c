"""initialize, and what comes before and right after it."""

import re

from ops.client.reply import expect, show
from ops.client.session import REVISION
from ops.conform.check import check
from ops.conform.server import EVERYTHING, Server

VERSION = re.compile(r"\d{4}-\d\d-\d\d")
OLDER = ("2025-06-18", "2025-03-26", "2024-11-05")
BEFORE_INITIALIZED = ("ping", "logging/setLevel")


@check("L-01", "MUST", "initialize with 2025-11-25 is answered with that version")
async def version_is_echoed(server: Server) -> None:
    for node in (0, 1):
        reply = await server.session().initialize({}, node=node)
        reply.expect(
            reply.result.get("protocolVersion") == REVISION, f"`protocolVersion` {REVISION}, for it is supported"
        )


@check("L-01", "MUST", "an older version is agreed on if the server speaks it, and countered otherwise")
async def older_version(server: Server) -> None:
    for version in OLDER:
        session = server.session()
        reply = await session.initialize({}, version)
        agreed = reply.result.get("protocolVersion")
        reply.expect(isinstance(agreed, str) and VERSION.fullmatch(agreed), "`protocolVersion`, a version of MCP")
        await session.notify("notifications/initialized")
        ping = await session.request("ping", headers={"mcp-protocol-version": version})
        if version != agreed:
            wanted = (
                f"HTTP status 400 for `MCP-Protocol-Version: {version}`, since the answer to initialize was {agreed}"
            )
            ping.expect(ping.status == 400, f"{wanted}; a version that is supported has to be agreed on")
        else:
            ping.expect(ping.result == {}, f"the result `{{}}` in the version that was agreed on, {version}")


@check("L-01", "MUST", "a version that nobody knows is answered with one that the server speaks")
async def version_to_come(server: Server) -> None:
    for node, version in ((0, "2099-01-01"), (1, "1.0")):
        session = server.session()
        reply = await session.initialize({}, version, node)
        agreed = reply.result.get("protocolVersion")
        fits = isinstance(agreed, str) and VERSION.fullmatch(agreed) and agreed != version
        reply.expect(fits, "a result whose `protocolVersion` is one that the server speaks")
        await session.notify("notifications/initialized", node=node)
        ping = await session.request("ping", node=1 - node)
        ping.expect(ping.result == {}, f"the result `{{}}`, for the server itself offered {agreed}")


@check("L-01", "SHOULD", "what is offered in place of an unknown version is the latest")
async def latest_is_offered(server: Server) -> None:
    reply = await server.session().initialize({}, "2099-01-01")
    offered = str(reply.result.get("protocolVersion"))
    reply.expect(offered >= REVISION, f"`protocolVersion` {REVISION} or later, for the server speaks {REVISION}")


@check("L-01", "MUST", "the answer to initialize has capabilities, and the name and version of the server")
async def initialize_result(server: Server) -> None:
    for node in (0, 1):
        reply = await server.session().initialize({}, node=node)
        capabilities, info = reply.result.get("capabilities"), reply.result.get("serverInfo")
        reply.expect(isinstance(capabilities, dict), "`capabilities`, an object")
        named = isinstance(info, dict) and all(isinstance(info.get(member), str) for member in ("name", "version"))
        reply.expect(named, "`serverInfo` with the strings `name` and `version`")
        instructions = reply.result.get("instructions", "")
        reply.expect(isinstance(instructions, str), "`instructions`, a string where there are any")


@check("L-03", "SHOULD", "before it is told initialized, a server requests nothing but ping")
async def silent_until_initialized(server: Server) -> None:
    session = server.session()
    await session.initialize({**EVERYTHING, "roots": {"listChanged": True}})
    for node in (0, 1):
        await session.listen(node)
        await session.request("ping", node=node)  # what the server sends upon initialize would come before the answer
    asked = [one.message for one in session.heard if "id" in one.message and "method" in one.message]
    for message in asked:
        wanted = "no request but ping before notifications/initialized"
        expect(message["method"] in BEFORE_INITIALIZED, f"came: {show(message)}\nwanted: {wanted}")


@check("L-04", "MUST", "ping is answered, before notifications/initialized too")
async def ping_before_initialized(server: Server) -> None:
    session = server.session()
    await session.initialize({})
    for node in (0, 1):
        reply = await session.request("ping", node=node)
        reply.expect(reply.result == {}, "the result `{}`")
