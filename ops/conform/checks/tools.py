"""What tools/list shows, and what tools/call makes of it."""

import json
import re
from typing import Any

from ops.client.reply import Reply, expect, show
from ops.conform.check import NotApplicable, check
from ops.conform.server import Server
from ops.conform.session import Session

NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
PAGES = 100  # of tools/list, at most


def text_of(reply: Reply) -> str:
    """The text of the first block of a CallToolResult."""
    content = reply.result.get("content")
    block = content[0] if isinstance(content, list) and content else None
    is_text = isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    reply.expect(is_text, "a CallToolResult whose `content` begins with a text block")
    return str(reply.result["content"][0]["text"])


@check("L-06", "MUST", "a server that has tools declares them")
async def tools_are_declared(server: Server) -> None:
    session = server.session()
    initialized = await session.initialize({})
    await session.notify("notifications/initialized")
    if "error" in ((await session.request("tools/list")).message or {}):
        raise NotApplicable("the server has no tools")
    declared = (initialized.result.get("capabilities") or {}).get("tools")
    initialized.expect(isinstance(declared, dict), "`capabilities.tools`, an object, for tools/list is answered")


@check("L-06", "SHOULD", "an unknown tool is refused with -32602, plain and as a task")
async def unknown_tool(server: Server) -> None:
    session = await server.open()
    if not server.declares("tools"):
        raise NotApplicable("the server does not declare tools")
    params: dict[str, Any] = {"name": "no-such-tool", "arguments": {}}
    for node in (0, 1):
        (await session.request("tools/call", params, node)).expect_error(-32602)
    if server.declares("tasks.requests.tools.call"):
        (await session.request("tools/call", {**params, "task": {}})).expect_error(-32602)


@check("L-06", "MUST", "a call whose arguments do not fit the inputSchema does not succeed", tools=("echo",))
async def arguments_are_checked(server: Server) -> None:
    session = await server.open()
    for node, arguments in ((0, {}), (1, {"text": 5}), (0, {"text": None}), (1, {"text": ["hello"]})):
        reply = await session.call("echo", arguments, node)
        failed = "error" in (reply.message or {}) or reply.result.get("isError") is True
        reply.expect(failed, "an `isError` result or a JSON-RPC error: `text` is a required string")


@check(
    "L-06", "SHOULD", "arguments that do not fit are told in an isError result, which a model can read", tools=("echo",)
)
async def arguments_are_told_to_the_model(server: Server) -> None:
    session = await server.open()
    for arguments in ({}, {"text": 5}):
        reply = await session.call("echo", arguments)
        result = (reply.message or {}).get("result") or {}
        told = result.get("isError") is True and text_of(reply)
        reply.expect(told, "a result with `isError: true` and a text that says what is wrong")


@check("L-06 X-18", "MUST", "a task whose arguments do not fit the inputSchema does not complete", tools=("echo",))
async def arguments_of_a_task_are_checked(server: Server) -> None:
    session = await server.open()
    reply = await session.call_task("echo", {"text": 5})
    if "error" in (reply.message or {}):
        reply.expect_error(-32602)
    elif "task" in reply.result:
        await session.wait_until(reply.task_id, "failed", node=1)
    else:
        reply.expect(reply.result.get("isError") is True, "-32602, a task that fails, or a result with `isError`")


@check("L-06", "MUST", "structuredContent is what the outputSchema has", tools=("structured",))
async def structured_content_fits(server: Server) -> None:
    session = await server.open()
    for node in (0, 1):
        reply = await session.call("structured", {"text": "hello"}, node)
        wanted = {"text": "hello", "length": 5}
        reply.expect(reply.result.get("structuredContent") == wanted, f"`structuredContent` {json.dumps(wanted)}")
    named = server.tool("structured")
    (tool,) = [tool for tool in await _list_tools(session) if tool.get("name") == named]
    schema = tool.get("outputSchema") or {}
    wanted_text = "an outputSchema of type object, with the properties text and length and no other required"
    fits = schema.get("type") == "object" and {"text", "length"} == set(schema.get("properties") or {})
    expect(
        fits and {"text", "length"}.issuperset(schema.get("required", [])), f"came: {show(tool)}\nwanted: {wanted_text}"
    )


@check("L-10", "SHOULD", "structuredContent is repeated as JSON in a text block", tools=("structured",))
async def structured_content_as_text(server: Server) -> None:
    session = await server.open()
    reply = await session.call("structured", {"text": "hello"})
    texts = [block.get("text") for block in reply.result.get("content") or [] if block.get("type") == "text"]
    repeated = reply.result.get("structuredContent")
    reply.expect(repeated in [_read_json(text) for text in texts], "a text block that holds structuredContent as JSON")


@check("L-10", "MUST", "the schemas of every tool are objects of type object")
async def schemas_are_objects(server: Server) -> None:
    session = await server.open()
    for tool in await _list_tools(session):
        for member in ("inputSchema", "outputSchema"):
            if member == "inputSchema" or member in tool:
                schema = tool.get(member)
                fits = isinstance(schema, dict) and schema.get("type") == "object"
                expect(fits, f"came: {show(tool)}\nwanted: `{member}`, an object whose `type` is `object`")


@check("L-10", "SHOULD", "names of tools are unique, of 1 to 128 letters, digits, dots, hyphens and underscores")
async def names_of_tools(server: Server) -> None:
    session = await server.open()
    names = [tool.get("name") for tool in await _list_tools(session)]
    for name in names:
        fits = isinstance(name, str) and NAME.fullmatch(name) is not None
        expect(fits, f"a tool is named {name!r}\nwanted: 1 to 128 of A-Z, a-z, 0-9, dot, hyphen, underscore")
        expect(names.count(name) == 1, f"{names.count(name)} tools are named {name!r}\nwanted: one")


async def _list_tools(session: Session) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = []
    params: dict[str, Any] = {}
    for _ in range(PAGES if session.server.declares("tools") else 0):
        reply = await session.request("tools/list", params)
        page = reply.result.get("tools")
        reply.expect(
            isinstance(page, list) and all(isinstance(tool, dict) for tool in page), "`tools`, a list of objects"
        )
        tools += reply.result["tools"]
        if reply.result.get("nextCursor") is None:
            break
        params = {"cursor": reply.result["nextCursor"]}
    if not tools:
        raise NotApplicable("the server has no tools")
    return tools


def _read_json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None
