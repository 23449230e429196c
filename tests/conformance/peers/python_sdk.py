"""The fixture tools on the task server of the ``mcp`` package, as its guide to experimental tasks has them written.

    python -m tests.conformance.peers.python_sdk PORT

The low-level Server and its session manager with everything as it comes: tasks and messages in memory, no resumption.
Where the package leaves something to the author, this does it; what it does for authors is left to it.
"""

import json
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

import anyio
import uvicorn
from mcp import types
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from mcp.server.experimental.request_context import Experimental
from mcp.server.experimental.task_context import ServerTaskContext
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import McpError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ops.conform.fixtures import FIXTURES, PREFIX

Arguments = dict[str, Any]
Tool = Callable[["Call"], Awaitable[types.CallToolResult]]

TICK_SECONDS = 0.1
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
USERS = {"alice-token": "alice", "bob-token": "bob"}
FORM: Arguments = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
OUTPUT: Arguments = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "length": {"type": "integer"}},
    "required": ["text", "length"],
}

server: Server[Any] = Server("python-sdk", version="1.30.0")
server.experimental.enable_tasks()

tools: dict[str, Tool] = {}
log_levels: WeakKeyDictionary[ServerSession, str] = WeakKeyDictionary()


class Call:
    """One call of a tool; ``task`` is None for a plain one."""

    def __init__(self, arguments: Arguments, task: ServerTaskContext | None) -> None:
        context = server.request_context
        self.arguments = arguments
        self.task = task
        self.session = context.session
        self.token = context.meta.progressToken if context.meta else None
        # The stream of a call that became a task is closed: what it says goes to the stream of the session.
        self.request_id = None if task else context.request_id

    def can_be_asked(self, capability: types.ClientCapabilities) -> None:
        """What the package looks at by itself for tasks alone."""
        if not self.session.check_client_capability(capability):
            raise ValueError("the client can't be asked")


def text(said: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=said)])


def tool(role: str) -> Callable[[Tool], Tool]:
    def register(function: Tool) -> Tool:
        tools[PREFIX + role] = function
        return function

    return register


@tool("echo")
@tool("forbidden")
@tool("required")
async def echo(call: Call) -> types.CallToolResult:
    return text(call.arguments["text"])


@tool("sleep")
async def sleep(call: Call) -> types.CallToolResult:
    await anyio.sleep(call.arguments["seconds"])
    return text("slept")


@tool("stubborn")
async def stubborn(call: Call) -> types.CallToolResult:
    with anyio.CancelScope(shield=True):
        await anyio.sleep(call.arguments["seconds"])
    return text("slept")


@tool("tick")
async def tick(call: Call) -> types.CallToolResult:
    for count in range(1, call.arguments["ticks"] + 1):
        if call.task and call.task.is_cancelled:
            break
        _counter(call.arguments["label"]).write_text(str(count))
        await anyio.sleep(TICK_SECONDS)
    return text("done")


@tool("ticks")
async def ticks(call: Call) -> types.CallToolResult:
    counter = _counter(call.arguments["label"])
    return text(counter.read_text() if counter.exists() else "0")


@tool("fail")
async def fail(call: Call) -> types.CallToolResult:
    return types.CallToolResult(content=text(call.arguments["text"]).content, isError=True)


@tool("error")
async def error(call: Call) -> types.CallToolResult:
    raise McpError(types.ErrorData(**call.arguments))


@tool("structured")
async def structured(call: Call) -> types.CallToolResult:
    measured = {"text": call.arguments["text"], "length": len(call.arguments["text"])}
    return types.CallToolResult(content=text(json.dumps(measured)).content, structuredContent=measured)


@tool("blocks")
async def blocks(call: Call) -> types.CallToolResult:
    image = types.ImageContent(type="image", data="AAAA", mimeType="image/png")
    return types.CallToolResult(content=[*text("a text").content, image])


@tool("meta")
async def meta(call: Call) -> types.CallToolResult:
    said = call.arguments["text"]
    return types.CallToolResult(content=text(said).content, _meta={"example.org/conform": said})


@tool("progress")
async def progress(call: Call) -> types.CallToolResult:
    steps = call.arguments["steps"]
    for step in range(1, steps + 1):
        if call.token is not None:
            related = None if call.request_id is None else str(call.request_id)
            await call.session.send_progress_notification(call.token, step, steps, related_request_id=related)
        await anyio.sleep(TICK_SECONDS)
    return text("done")


@tool("log")
async def log(call: Call) -> types.CallToolResult:
    level = call.arguments["level"]
    if LEVELS.index(level) >= LEVELS.index(log_levels.get(call.session, "debug")):
        await call.session.send_log_message(level, call.arguments["message"], related_request_id=call.request_id)
    return text("done")


@tool("status")
async def status(call: Call) -> types.CallToolResult:
    if call.task:
        await call.task.update_status(call.arguments["message"])
    await anyio.sleep(call.arguments["seconds"])
    return text("done")


@tool("elicit")
async def elicit(call: Call) -> types.CallToolResult:
    call.can_be_asked(types.ClientCapabilities(elicitation=types.ElicitationCapability()))
    message = call.arguments["message"]
    for _ in range(call.arguments.get("times", 1)):
        if call.task:
            answer = await call.task.elicit(message, FORM)
        else:
            answer = await call.session.elicit_form(message, FORM, call.request_id)
    return text(f"{answer.action} {answer.content['answer']}" if answer.content else answer.action)


@tool("elicit_url")
async def elicit_url(call: Call) -> types.CallToolResult:
    call.can_be_asked(types.ClientCapabilities(elicitation=types.ElicitationCapability()))
    message, url, id = call.arguments["message"], call.arguments["url"], str(uuid4())
    if call.task:
        return text((await call.task.elicit_url(message, url, id)).action)
    return text((await call.session.elicit_url(message, url, id, call.request_id)).action)


@tool("sample")
async def sample(call: Call) -> types.CallToolResult:
    call.can_be_asked(types.ClientCapabilities(sampling=types.SamplingCapability()))
    prompt = types.TextContent(type="text", text=call.arguments["prompt"])
    messages = [types.SamplingMessage(role="user", content=prompt)]
    if call.task:
        said = await call.task.create_message(messages, max_tokens=100)
    else:
        said = await call.session.create_message(messages, max_tokens=100, related_request_id=call.request_id)
    assert isinstance(said.content, types.TextContent)
    return text(said.content.text)


@server.list_tools()  # type: ignore[no-untyped-call, untyped-decorator]
async def list_tools() -> list[types.Tool]:
    return [
        types.Tool(
            name=name,
            description=FIXTURES[name.removeprefix(PREFIX)].does,
            inputSchema=_schema(FIXTURES[name.removeprefix(PREFIX)].arguments),
            outputSchema=OUTPUT if name == PREFIX + "structured" else None,
            execution=types.ToolExecution(taskSupport=FIXTURES[name.removeprefix(PREFIX)].support),
        )
        for name in tools
    ]


@server.call_tool()  # type: ignore[untyped-decorator]
async def call_tool(name: str, arguments: Arguments) -> types.CallToolResult | types.CreateTaskResult:
    if name not in tools:
        raise ValueError(f"Unknown tool: {name}")
    experimental: Experimental = server.request_context.experimental
    experimental.validate_task_mode(FIXTURES[name.removeprefix(PREFIX)].support)
    make = partial(Call, arguments)
    if not experimental.is_task:
        return await tools[name](make(None))

    async def work(task: ServerTaskContext) -> types.CallToolResult:
        return await tools[name](make(task))

    return await experimental.run_task(work)


@server.set_logging_level()  # type: ignore[no-untyped-call, untyped-decorator]
async def set_logging_level(level: types.LoggingLevel) -> None:
    log_levels[server.request_context.session] = level


class Tokens:
    """The package's TokenVerifier: two users of one client."""

    async def verify_token(self, token: str) -> AccessToken | None:
        user = USERS.get(token)
        return AccessToken(token=token, client_id="conform", scopes=[], subject=user) if user else None


async def is_alive(_: Request) -> Response:
    return Response()


def create_app() -> Starlette:
    manager = StreamableHTTPSessionManager(app=server)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    guarded = RequireAuthMiddleware(manager.handle_request, required_scopes=[])
    backend = BearerAuthBackend(Tokens())
    return Starlette(
        routes=[Route("/mcp", guarded), Route("/livez", is_alive)],
        middleware=[Middleware(AuthenticationMiddleware, backend=backend)],
        lifespan=lifespan,
    )


def _schema(signature: str) -> Arguments:
    """The inputSchema for arguments as the fixtures have them: ``text: string, times: integer = 1``."""
    properties: dict[str, Mapping[str, Any]] = {}
    required = []
    for part in filter(None, signature.split(", ")):
        name, _, kind = part.partition(": ")
        kind, _, default = kind.partition(" = ")
        properties[name] = {} if kind == "any" else {"type": kind}
        if not default and kind != "any":
            required.append(name)
    return {"type": "object", "properties": properties, "required": required}


def _counter(label: str) -> Path:
    return Path(tempfile.gettempdir()) / f"conform-{label.encode().hex()}"


if __name__ == "__main__":
    uvicorn.run(create_app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
