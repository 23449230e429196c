"""The task server of the ``mcp`` package, with its store in memory."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import types
from mcp.server.experimental.task_context import ServerTaskContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

logging.disable()
server: Server[Any] = Server("bench")
server.experimental.enable_tasks()
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


@server.list_tools()  # type: ignore[no-untyped-call, untyped-decorator]
async def list_tools() -> list[types.Tool]:
    execution = types.ToolExecution(taskSupport="optional")
    return [types.Tool(name="instant", description="Returns its text.", inputSchema=SCHEMA, execution=execution)]


@server.call_tool()  # type: ignore[untyped-decorator]
async def call_tool(_: str, arguments: dict[str, Any]) -> types.CreateTaskResult:
    async def work(_: ServerTaskContext) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text=arguments["text"])])

    created: types.CreateTaskResult = await server.request_context.experimental.run_task(work)
    return created


async def is_alive(_: Request) -> Response:
    return Response()


manager = StreamableHTTPSessionManager(app=server, json_response=True)


@asynccontextmanager
async def live(_: Starlette) -> AsyncIterator[None]:
    async with manager.run():
        yield


class Endpoint:
    """What Starlette takes for an ASGI application, and mounts as it is."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await manager.handle_request(scope, receive, send)


app = Starlette(routes=[Route("/livez", is_alive), Route("/mcp", Endpoint())], lifespan=live)
