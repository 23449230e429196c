"""Tools for ``receiver call``: they ask, wait at gates, and say what a terminal must not be told."""

import asyncio
import os
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from receiver import Context, Receiver, UrlElicitationRequired

FOLDER = Path(os.environ["CALLS_FOLDER"])
LOOK_SECONDS = 0.01
HOSTILE = "\x1b[2J\x9b1m\u202ered\r"

app = Receiver("calls", version="1.0.0")


class Booking(BaseModel):
    """A form with a field of each kind."""

    name: str = Field(min_length=2)
    seats: int = Field(ge=1, le=9)
    kind: Literal["window", "aisle"] = "aisle"
    quiet: bool = False


@app.tool
async def book(ctx: Context) -> str:
    """Has a form filled in."""
    answer = await ctx.elicit("A seat,\nplease", Booking)
    return f"{answer.action} {answer.content}"


@app.tool
async def open_page(ctx: Context) -> str:
    """Has a link opened."""
    return (await ctx.elicit_url("Sign in", "https://example.org/sign-in")).action


@app.tool
async def need_page() -> None:
    """Can do nothing before a link was opened."""
    raise UrlElicitationRequired({"https://example.org/first": "Open this"}, "Sign in first")


@app.tool
async def sample(ctx: Context) -> str:
    """Asks for a model."""
    return str(await ctx.sample("Say blue", 10))


@app.tool
async def give_up(label: str, ctx: Context) -> str:
    """Asks, and takes the question back when its gate opens."""
    asking = asyncio.create_task(ctx.elicit("Still there?", Booking))
    await pass_gate(label)
    asking.cancel()
    await asyncio.wait([asking])
    return "given up"


async def pass_gate(label: str) -> None:
    """Returns when there is a file of this name."""
    while not (FOLDER / label).exists():  # noqa: ASYNC110 - another process makes it
        await asyncio.sleep(LOOK_SECONDS)


@app.tool
async def wait(label: str, ctx: Context) -> str:
    """Waits for its gate."""
    await ctx.status(f"Waiting for {label}")
    await pass_gate(label)
    return f"passed {label}"


@app.tool(task="forbidden")
async def wait_plainly(label: str, ctx: Context) -> str:
    """The same, never as a task."""
    await ctx.progress(1, message=f"Waiting for {label}")
    await pass_gate(label)
    return f"passed {label}"


@app.tool(task="required")
async def only_as_task() -> str:
    """Never plainly."""
    return "done"


@app.tool
async def hostile(fail: bool, ctx: Context) -> str:
    """Says what a terminal would obey."""
    await ctx.log("warning", f"log {HOSTILE}")
    await ctx.progress(1, total=2, message=f"progress {HOSTILE}")
    await ctx.elicit(f"question {HOSTILE}", Booking)
    if fail:
        raise RuntimeError(HOSTILE)
    return f"result {HOSTILE}"
