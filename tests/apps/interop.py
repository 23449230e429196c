"""Tools that ask, tell and wait: what the clients of other projects are tried with.

A gate is a file in ``ACCEPTANCE_FOLDER``; ``release`` makes it, so that a client needs nothing but the wire.
"""

import asyncio
import os
from pathlib import Path

from pydantic import BaseModel, Field

from receiver import Context, Receiver, ToolError

FOLDER = Path(os.environ["ACCEPTANCE_FOLDER"])
LOOK_SECONDS = 0.01

app = Receiver("interop", version="1.0.0")


class Trip(BaseModel):
    """The form that ``book`` has filled in."""

    city: str = Field(description="Where to")
    nights: int = Field(default=2, ge=1, le=30)


class Booked(BaseModel):
    """What became of the form."""

    action: str
    trip: Trip | None


async def pass_gate(label: str | None) -> None:
    while label is not None and not (FOLDER / label).exists():  # noqa: ASYNC110 - who opens it is another process
        await asyncio.sleep(LOOK_SECONDS)


@app.tool
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


@app.tool
async def refuse(reason: str) -> str:
    """Fails."""
    raise ToolError(reason)


@app.tool(task="forbidden")
async def release(label: str) -> str:
    """Opens a gate."""
    (FOLDER / label).touch()
    return label


@app.tool
async def gated(label: str) -> str:
    """Waits for its gate."""
    await pass_gate(label)
    return label


@app.tool
async def tell(label: str, ctx: Context) -> str:
    """Says that it has done one of two parts, waits for its gate, and says that it has done both."""
    await ctx.progress(1, total=2, message="half")
    await pass_gate(label)
    await ctx.progress(2, total=2, message="whole")
    return label


@app.tool(task="required")
async def only_as_task() -> str:
    """Can't be called plainly."""
    return "done"


@app.tool
async def book(ctx: Context, gate: str | None = None, as_task: bool = False) -> Booked:
    """Asks the user for a form, perhaps when a gate is open, and perhaps as a task of the client's."""
    await pass_gate(gate)
    answer = await ctx.elicit("Where do you want to go?", Trip, as_task=as_task)
    trip = None if answer.content is None else Trip.model_validate(answer.content)
    return Booked(action=answer.action, trip=trip)


@app.tool
async def rhyme(word: str, ctx: Context, gate: str | None = None, as_task: bool = False) -> str:
    """Asks the client's model, perhaps when a gate is open, and perhaps as a task of the client's."""
    await pass_gate(gate)
    written = await ctx.sample(f"Find a rhyme for {word}", 20, systemPrompt="You are a poet", as_task=as_task)
    return f"{written['model']}: {written['content']['text']}"


@app.tool
async def book_and_rhyme(ctx: Context, gate: str | None = None) -> str:
    """Asks both, one after the other, perhaps when a gate is open."""
    booked, rhymed = await book(ctx, gate), await rhyme("sea", ctx)
    return f"{booked.trip and booked.trip.city}, {rhymed}"
