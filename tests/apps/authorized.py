"""Tools that tell who called them, and a hook that knows its requestors by a header of its own."""

from collections.abc import Mapping
from typing import Any

from receiver import Context, Principal, Receiver, ToolError

app = Receiver("authorized", version="1.0.0")


async def authenticate(headers: Mapping[str, str]) -> Principal | None:
    """Whoever has a badge; one of them breaks the function."""
    badge = headers.get("x-badge")
    if badge == "broken":
        raise KeyError(headers)
    return Principal(badge, "door", "hook", frozenset({"enter"})) if badge else None


hooked = Receiver("hooked", authenticate=authenticate)


@app.tool(annotations={"readOnlyHint": True})
@hooked.tool(annotations={"readOnlyHint": True})
async def whoami(ctx: Context) -> dict[str, Any]:
    """Who called, as a run sees it."""
    return ctx.principal.to_json()


@app.tool
async def fail() -> str:
    """Ends with isError."""
    raise ToolError("no")


@app.tool
async def crash() -> str:
    """Ends with an exception."""
    raise RuntimeError("crash")
