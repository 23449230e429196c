"""What a server says of its tools and of its own abilities, as far as tasks go."""

from typing import Any

from ops.client.reply import expect, show
from ops.conform.check import check
from ops.conform.fixtures import FIXTURES
from ops.conform.server import Server

SUPPORTS = ("forbidden", "optional", "required")


@check(
    "T-103", "MUST", "tools/list shows how each tool supports tasks", tools=("echo", "required", "forbidden"),
    needs=("tasks.requests.tools.call",),
)  # fmt: skip
async def support_is_shown(server: Server) -> None:
    session = await server.open()
    tools = {str(tool.get("name")): tool for tool in await session.list_tools()}
    for name, tool in tools.items():
        execution = tool.get("execution", {})
        fits = isinstance(execution, dict) and execution.get("taskSupport", "forbidden") in SUPPORTS
        expect(fits, f"{name} has `execution`: {show(execution)}\nwanted: `taskSupport`, if any, is of {SUPPORTS}")
    for role in ("echo", "required", "forbidden"):
        _expect_support(tools.get(server.tool(role), {"name": server.tool(role)}), FIXTURES[role].support)


@check("T-104", "MUST", "the members of the tasks capability are objects", needs=("tasks",))
async def capabilities_are_objects(server: Server) -> None:
    session = server.session()
    reply = await session.initialize({})
    tasks = (reply.result.get("capabilities") or {}).get("tasks")
    for name, member in _members("tasks", tasks):
        reply.expect(isinstance(member, dict), f"`capabilities.{name}` is an object, if it is there")


def _expect_support(tool: dict[str, Any], support: str) -> None:
    shown = (tool.get("execution") or {}).get("taskSupport", "forbidden")
    expect(shown == support, f"{tool.get('name')} has taskSupport {shown!r} in tools/list\nwanted: {support!r}")


def _members(name: str, member: Any) -> list[tuple[str, Any]]:
    """A member and all below it, with their names."""
    below = member.items() if isinstance(member, dict) else ()
    return [(name, member), *(found for key, value in below for found in _members(f"{name}.{key}", value))]
