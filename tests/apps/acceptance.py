"""Tools whose runs leave a trace: the ground truth that acceptance tests compare answers with.

Every tool appends lines to ``ACCEPTANCE_FOLDER/truth``, synced to disk, and gated ones end when a file appears in the
same folder: ``<label>``, or ``<label>.<run>`` for one run alone.
"""

import asyncio
import json
import os
from pathlib import Path

from pydantic import BaseModel

from receiver import Context, Receiver, ReceiverError, ToolError

FOLDER = Path(os.environ["ACCEPTANCE_FOLDER"])
LOOK_SECONDS = 0.01

app = Receiver("acceptance", version="1.0.0")


class Ran(BaseModel):
    """Which run gave a result."""

    label: str
    run: int
    attempt: int
    pid: int


def trace(event: str, label: str, ctx: Context) -> None:
    """Writes one line of ground truth; several processes may do so at the same time."""
    line = {"event": event, "label": label, "task": ctx.task_id, "run": ctx.run, "attempt": ctx.attempt}
    file = os.open(FOLDER / "truth", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    try:
        os.write(file, json.dumps(line | {"pid": os.getpid()}).encode() + b"\n")
        os.fsync(file)
    finally:
        os.close(file)


def end(label: str, ctx: Context) -> Ran:
    trace("end", label, ctx)
    return Ran(label=label, run=ctx.run, attempt=ctx.attempt, pid=os.getpid())


async def wait_at_gate(label: str, ctx: Context) -> None:
    gates = (FOLDER / label, FOLDER / f"{label}.{ctx.run}")
    while not any(gate.exists() for gate in gates):  # noqa: ASYNC110 - who opens it is another process
        await asyncio.sleep(LOOK_SECONDS)


async def run_gated(label: str, ctx: Context) -> Ran:
    trace("start", label, ctx)
    try:
        await wait_at_gate(label, ctx)
    except asyncio.CancelledError:
        trace("cancelled", label, ctx)
        raise
    return end(label, ctx)


@app.tool
async def instant(label: str, *, ctx: Context) -> Ran:
    """Ends at once."""
    trace("start", label, ctx)
    return end(label, ctx)


@app.tool
async def gated(label: str, *, ctx: Context) -> Ran:
    """Waits for its gate; a task is attempted three times, a plain call once."""
    return await run_gated(label, ctx)


@app.tool(max_attempts=1)
async def gated_once(label: str, *, ctx: Context) -> Ran:
    """Waits for its gate; even a task is attempted once."""
    return await run_gated(label, ctx)


@app.tool
async def stubborn(label: str, *, ctx: Context) -> Ran:
    """Waits for its gate, and goes on waiting when it is cancelled."""
    trace("start", label, ctx)
    try:
        await wait_at_gate(label, ctx)
    except asyncio.CancelledError:
        trace("cancelled", label, ctx)
        await wait_at_gate(label, ctx)
    return end(label, ctx)


class Choice(BaseModel):
    """A form."""

    name: str


async def reach(point: str, ctx: Context) -> None:
    """Stops at a point until its gate is open."""
    trace("reach", point, ctx)
    await wait_at_gate(point, ctx)


@app.tool(replay=True)
async def compose(label: str, *, ctx: Context) -> list[str]:
    """Three steps and a question; it can be stopped before, in and behind each of them."""

    async def do(step: str) -> str:
        trace("effect", f"{label}/{step}", ctx)
        await reach(f"{label}.in_{step}", ctx)
        return step

    done = []
    for step in ("one", "two", "three"):
        await reach(f"{label}.before_{step}", ctx)
        done.append(await ctx.step(step, do, step))
        await reach(f"{label}.behind_{step}", ctx)
        if step == "one":
            answer = await ctx.elicit("Which template?", Choice)
            done.append(str(answer.content))
    return done


@app.tool(task="required")
async def only_as_task(label: str, *, ctx: Context) -> Ran:
    """Can't be called plainly."""
    return end(label, ctx)


@app.tool(task="forbidden")
async def only_plain(label: str, *, ctx: Context) -> Ran:
    """Can't be run as a task."""
    return end(label, ctx)


@app.tool
async def failing(reason: str) -> str:
    """Fails."""
    raise ToolError(reason)


@app.tool
async def refusing(code: int, message: str) -> str:
    """Answers with a JSON-RPC error of its own."""
    raise ReceiverError(message, code=code, data={"of": "refusing"})
