"""FastMCP 4 with fastmcp-tasks, for MCP 2026-07-28; FASTMCP_DOCKET_URL says where Redis is."""

import logging

from fastmcp import FastMCP
from fastmcp_tasks import TasksExtension  # type: ignore[import-not-found] # it is in an environment of its own
from starlette.requests import Request
from starlette.responses import Response

logging.disable()
mcp = FastMCP("bench")
mcp.add_extension(TasksExtension())  # type: ignore[attr-defined] # the tests have the client of FastMCP 3


@mcp.tool(task=True)
async def instant(text: str) -> str:
    """Returns its text."""
    return text


@mcp.custom_route("/livez", methods=["GET"])
async def is_alive(_: Request) -> Response:
    return Response()


app = mcp.http_app(path="/mcp", json_response=True, stateless_http=True)
