"""FastMCP 3 with its tasks on Docket; FASTMCP_DOCKET_URL says where Redis is."""

import logging

from fastmcp import FastMCP
from starlette.requests import Request
from starlette.responses import Response

logging.disable()
mcp = FastMCP("bench")


@mcp.tool(task=True)
async def instant(text: str) -> str:
    """Returns its text."""
    return text


@mcp.custom_route("/livez", methods=["GET"])
async def is_alive(_: Request) -> Response:
    return Response()


app = mcp.http_app(path="/mcp", json_response=True)
