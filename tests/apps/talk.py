"""Tools that talk to their requestor while they run, for the tests in ``tests/wire``."""

import asyncio
from dataclasses import asdict, is_dataclass
from typing import Any, Literal

from pydantic import BaseModel, Field

from receiver import Context, Receiver, UrlElicitationRequired
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

    A step is a method of the context with its arguments, a gate with its label, ``all`` with steps to do at once,
    ``unless`` with a gate and a step that is given up when the gate opens, or ``link`` with a message and a URL, which
    tells the client that it is done.
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
async def book(message: str, ctx: Context, as_task: bool = False) -> dict[str, Any]:
    """Has a form filled in whose fields a model describes."""
    answer = await ctx.elicit(message, Booking, as_task=as_task)
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


@app.tool
async def require_link(url: str, ctx: Context) -> None:
    """Can do nothing before its user has opened a link."""
    raise UrlElicitationRequired({url: "Sign in."}, "Sign in first.")


async def _do_unless(ctx: Context, label: str, step: Step) -> Any:
    doing = asyncio.create_task(_do(ctx, *step))
    await pass_gate(ctx.state, label)
    doing.cancel()
    await asyncio.wait({doing})
    return "given up" if doing.cancelled() else doing.result()


async def _do(ctx: Context, kind: str, *arguments: Any) -> Any:
    if kind == "gate":
        return await pass_gate(ctx.state, *arguments)
    if kind == "run":
        return ctx.run
    if kind == "all":
        return await asyncio.gather(*(_do(ctx, *step) for step in arguments))
    if kind == "unless":
        return await _do_unless(ctx, *arguments)
    if kind == "link":
        link = await ctx.elicit_url(*arguments)
        return await ctx.elicitation_complete(link.elicitation_id)
    last = arguments[-1] if arguments else None
    named = last if isinstance(last, dict) and (kind == "sample" or "as_task" in last) else {}
    result = await getattr(ctx, kind)(*(arguments[:-1] if named else arguments), **named)
    return asdict(result) if is_dataclass(result) and not isinstance(result, type) else result
