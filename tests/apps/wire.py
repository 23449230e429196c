"""A tool for every case of the wire.

Gated tools wait at a gate: a list in the store's database 1, which the test pushes to.  They say there as well when
they have come to it, passed it, or were stopped before it; ``tests/http/gates.py`` is the other side.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from mcp_types import CallToolResult, ImageContent, ResourceLink, TextContent
from pydantic import BaseModel
from redis import Redis as BlockingRedis
from redis.asyncio import Redis

from receiver import Context, Receiver, ReceiverError, ToolError

GATES_DATABASE = 1
RELATED_TASK = "io.modelcontextprotocol/related-task"


def gates_url() -> str:
    """Where the gates are."""
    return urlsplit(os.environ["RECEIVER_REDIS_URL"])._replace(path=f"/{GATES_DATABASE}").geturl()


@asynccontextmanager
async def open_gates(app: Receiver) -> AsyncIterator[Redis]:
    """``ctx.state``: the connection to the gates."""
    async with Redis.from_url(gates_url()) as gates:
        yield gates


app = Receiver("wire", version="1.2.3", title="The wire", instructions="For tests.", lifespan=open_gates)


class Report(BaseModel):
    """What ``report`` returns."""

    name: str
    pages: int = 1


async def pass_gate(gates: Redis, label: str) -> None:
    """Waits until the gate ``label`` is opened."""
    await gates.execute_command("RPUSH", f"reached:{label}", 1)
    try:
        await gates.execute_command("BLPOP", f"gate:{label}", 0)
    except asyncio.CancelledError:
        await gates.execute_command("RPUSH", f"stopped:{label}", 1)
        raise
    await gates.execute_command("RPUSH", f"passed:{label}", 1)


@app.tool(title="Echo", annotations={"readOnlyHint": True})
async def echo(text: str) -> str:
    """Says it again.

    Word for word.
    """
    return text


@app.tool
def add(a: int, b: int = 1) -> int:
    """A plain function with a typed result."""
    return a + b


@app.tool
async def report(name: str, pages: int = 1) -> Report:
    """A result with a schema."""
    return Report(name=name, pages=pages)


@app.tool
async def refuse(reason: str) -> str:
    """Ends with isError."""
    raise ToolError(reason)


@app.tool
async def crash() -> str:
    """Ends with an exception that callers must not see."""
    raise RuntimeError("the password is swordfish")


@app.tool
async def raise_error(code: int, message: str, data: dict[str, int] | None = None) -> str:
    """Ends with a JSON-RPC error."""
    raise ReceiverError(message, code=code, data=data)


@app.tool
async def blocks() -> list[TextContent | ImageContent]:
    """Content of two kinds."""
    return [TextContent(text="é\n\u2028", type="text"), ImageContent(data="AAAA", mime_type="image/png", type="image")]


@app.tool
async def link() -> ResourceLink:
    """Content that clients before 2025-06-18 do not know."""
    return ResourceLink(name="a.csv", uri="file:///a.csv", type="resource_link")


@app.tool
async def bring_meta(names_task: bool = False, is_error: bool = False) -> CallToolResult:
    """A result with a ``_meta`` of its own, which may even claim to belong to a task."""
    meta = {"example.org/a": [1, {"b": None}]} | ({RELATED_TASK: {"taskId": "mine"}} if names_task else {})
    text = TextContent(text=f"not {RELATED_TASK}", type="text")
    return CallToolResult(content=[text], is_error=is_error, _meta=meta)


@app.tool
async def whoami(ctx: Context) -> dict[str, str | int | None]:
    """Who called, as a run sees it."""
    return {"subject": ctx.principal.subject, "task": ctx.task_id}


@app.tool
async def large(size: int) -> str:
    """A result of many bytes."""
    return "x" * size


@app.tool
async def gated(label: str, ctx: Context) -> str:
    """Waits at its gate."""
    await pass_gate(ctx.state, label)
    return label


@app.tool
def gated_thread(label: str) -> str:
    """Waits at its gate in a thread."""
    with BlockingRedis.from_url(gates_url()) as gates:
        gates.execute_command("RPUSH", f"reached:{label}", 1)
        gates.execute_command("BLPOP", f"gate:{label}", 0)
    return label


@app.tool
async def stubborn(label: str, ctx: Context) -> str:
    """Takes no notice of being cancelled."""
    while True:
        try:
            await pass_gate(ctx.state, label)
        except asyncio.CancelledError:
            continue
        return label


@app.tool
async def talking(label: str, ctx: Context) -> str:
    """Says how far it is, and waits at a gate each time."""
    await ctx.status("half\nway")
    await pass_gate(ctx.state, label)
    await ctx.progress(1, total=2, message="one")
    await pass_gate(ctx.state, f"{label} progressed")
    return label


@app.tool(task="required")
async def only_as_task() -> str:
    """Has to be called as a task."""
    return "done"


@app.tool(task="forbidden")
async def only_plainly() -> str:
    """Can't be called as a task."""
    return "done"


@app.tool(annotations={"destructiveHint": True})
async def erase(label: str) -> str:
    """Erases."""
    return label


@app.tool(timeout="2m")
async def timed() -> str:
    """May take two minutes."""
    return "done"


@app.tool(timeout="10m", min_ttl="1m")
async def patient() -> str:
    """May take ten minutes."""
    return "done"


@app.tool(min_ttl="90s")
async def kept() -> str:
    """Has to be kept for 90 seconds."""
    return "done"


@app.tool(timeout=0.2)
async def overdue(ctx: Context) -> str:
    """Takes longer than it may."""
    await pass_gate(ctx.state, "never")
    return "done"


@app.tool(immediate="Started.")
async def announced() -> str:
    """Has a word for the model at once (T-15)."""
    return "done"
