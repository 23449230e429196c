"""Tools that talk to their requestor while they run, for the tests in ``tests/wire``."""

import asyncio
from dataclasses import asdict, is_dataclass
from typing import Any, Literal

from pydantic import BaseModel, Field

from receiver import Context, Receiver
from tests.apps.wire import open_gates, pass_gate

Step = list[Any]  # what to do, and its arguments

app = Receiver("talk", version="1.2.3", lifespan=open_gates)


class Booking(BaseModel):
    """A form."""

    name: str = Field(min_length=2)
    seats: int = Field(ge=1, le=9)
    kind: Literal["window", "aisle"] = "aisle"


@app.tool(timeout="1m")
async def talk(script: list[Step], ctx: Context) -> list[Any]:
    """Does what ``script`` says, one step after the other, and returns what came of each.

    A step is a method of the context with its arguments, a gate with its label, or ``all`` with steps to do at once.
    """
    return [await _do(ctx, *step) for step in script]


@app.tool
def ask_in_thread(message: str, ctx: Context) -> str | None:
    """A plain function that asks."""
    ctx.sync.progress(1)
    return str(ctx.sync.elicit(message, Booking).content)


@app.tool
def touch_in_thread(uri: str, ctx: Context) -> str:
    """A plain function that changes a resource."""
    ctx.sync.resource_updated(uri)
    return uri


@app.tool
async def book(message: str, ctx: Context) -> dict[str, Any]:
    """Has a form filled in whose fields a model describes."""
    answer = await ctx.elicit(message, Booking)
    return {"action": answer.action, "content": answer.content}


@app.tool
async def rush(label: str, count: int, ctx: Context) -> int:
    """Passes its gate, and reports its progress as often as it can."""
    await pass_gate(ctx.state, label)
    for done in range(1, count + 1):
        await ctx.progress(done, total=count)
    return count


@app.tool(immediate="Booking a seat.")
async def announced() -> str:
    """Has a word for the model at once."""
    return "booked"


@app.resource("test://watched/{name}")
async def watched(name: str) -> str:
    """May be subscribed to."""
    return name


async def _do(ctx: Context, kind: str, *arguments: Any) -> Any:
    if kind == "gate":
        return await pass_gate(ctx.state, *arguments)
    if kind == "run":
        return ctx.run
    if kind == "all":
        return await asyncio.gather(*(_do(ctx, *step) for step in arguments))
    named = arguments[-1] if kind == "sample" and isinstance(arguments[-1], dict) else {}
    result = await getattr(ctx, kind)(*(arguments[:-1] if named else arguments), **named)
    return asdict(result) if is_dataclass(result) and not isinstance(result, type) else result
