"""The tools under test.  Each execution leaves lines of ground truth, synced to disk before it goes on.

A result says which execution gave it: task, run, and a nonce that no other execution has.  A step has a nonce of its
own, which is what it returns.
"""

import asyncio
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from receiver import Context, Receiver, Retry, ToolError

FOLDER = Path(os.environ["CHAOS_FOLDER"])

app = Receiver("chaos", version="1.0.0")


class Ran(BaseModel):
    """Which execution gave a result, and what it was answered if it asked.  ``task`` of a plain call is empty."""

    label: str
    task: str
    run: int
    attempt: int
    nonce: str
    answer: str = ""


class Reply(BaseModel):
    """The form that ``asking`` has filled in."""

    word: str = Field(description="Any word")


class Execution:
    """One execution of a tool, as it tells of itself."""

    def __init__(self, tool: str, label: str, ctx: Context) -> None:
        self._tool = tool
        nonce = secrets.token_hex(8)
        self.ran = Ran(label=label, task=ctx.task_id or "", run=ctx.run, attempt=ctx.attempt, nonce=nonce)

    def write(self, event: str, **about: str | float) -> None:
        """Writes one line; several processes may do so at the same time."""
        at = time.clock_gettime(time.CLOCK_REALTIME)  # time.time may be wrong here
        line = {"event": event, "tool": self._tool, **self.ran.model_dump(), **about, "pid": os.getpid(), "at": at}
        file = os.open(FOLDER / "truth.jsonl", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        try:
            os.write(file, json.dumps(line).encode() + b"\n")
            os.fsync(file)
        finally:
            os.close(file)

    async def step(self, ctx: Context, name: str, seconds: float) -> None:
        """Has a step done, unless it was, and says what it is known to have returned."""
        value: str = await ctx.step(name, self._act, name, round(seconds, 3))
        self.write("kept", name=name, value=value)

    async def sleep(self, ctx: Context, name: str, seconds: float) -> None:
        """Sleeps, and says when that began and ended."""
        self.write("sleep", name=name, seconds=seconds)
        await ctx.sleep(seconds)
        self.write("slept", name=name, seconds=seconds)

    async def ask(self, ctx: Context, *, as_task: bool = False) -> None:
        """Asks the user, and says when the answer was there."""
        answer: Any = await ctx.elicit("Which word?", Reply, as_task=as_task)
        self.ran.answer = "" if answer.content is None else str(Reply.model_validate(answer.content).word)
        self.write("answered", value=self.ran.answer)

    async def _act(self, name: str, seconds: float) -> str:
        value = secrets.token_hex(8)
        self.write("step", name=name, value=value)
        await asyncio.sleep(seconds)
        self.write("step_end", name=name, value=value)
        return value


@contextmanager
def execution(tool: str, label: str, ctx: Context) -> Iterator[Execution]:
    """Writes ``start``, and at last ``end``, or ``stopped`` for one that was told to stop."""
    this = Execution(tool, label, ctx)
    this.write("start")
    try:
        yield this
    except asyncio.CancelledError:
        this.write("stopped")
        raise
    except (Retry, ToolError):
        this.write("end")
        raise
    this.write("end")


@app.tool
async def quick(label: str, *, ctx: Context) -> Ran:
    """Ends at once."""
    with execution("quick", label, ctx) as this:
        return this.ran


@app.tool(annotations={"idempotentHint": True})
async def slow(label: str, seconds: float, *, ctx: Context) -> Ran:
    """Takes its time, and says how far it is."""
    with execution("slow", label, ctx) as this:
        for part in range(4):
            await asyncio.sleep(seconds / 4)
            await ctx.progress(part + 1, total=4)
        return this.ran


@app.tool(annotations={"destructiveHint": True})
async def destructive(label: str, seconds: float, *, ctx: Context) -> Ran:
    """Must not be attempted twice."""
    with execution("destructive", label, ctx) as this:
        await asyncio.sleep(seconds)
        return this.ran


@app.tool
async def asking(label: str, seconds: float, *, ctx: Context) -> Ran:
    """Asks the user, and goes on with the answer."""
    with execution("asking", label, ctx) as this:
        await this.ask(ctx)
        await asyncio.sleep(seconds)
        return this.ran


@app.tool
async def failing(label: str, *, ctx: Context) -> Ran:
    """Fails, and its failure is its outcome."""
    with execution("failing", label, ctx) as this:
        raise ToolError(this.ran.model_dump_json())


@app.tool
async def flaky(label: str, *, ctx: Context) -> Ran:
    """Is run again once."""
    with execution("flaky", label, ctx) as this:
        if ctx.attempt == 1:
            raise Retry(after=0.2)
        return this.ran


@app.tool
async def stubborn(label: str, seconds: float, *, ctx: Context) -> Ran:
    """Goes on when it is cancelled."""
    this = Execution("stubborn", label, ctx)
    this.write("start")
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        try:
            await asyncio.sleep(left)
        except asyncio.CancelledError:
            this.write("stopped")
    this.write("end")
    return this.ran


@app.tool
def threaded(label: str, seconds: float, *, ctx: Context) -> Ran:
    """A plain function: runs in a thread, which nobody can stop."""
    with execution("threaded", label, ctx) as this:
        time.sleep(seconds)
        return this.ran


@app.tool
async def composing(label: str, seconds: float, *, ctx: Context) -> Ran:
    """Three steps with a question in the middle."""
    with execution("composing", label, ctx) as this:
        await this.step(ctx, "one", seconds / 3)
        await this.ask(ctx)
        await this.step(ctx, "two", seconds / 3)
        await this.step(ctx, "three", seconds / 3)
        return this.ran


@app.tool(replay=True)
async def parking(label: str, seconds: float, *, ctx: Context) -> Ran:
    """The same, and a sleep; leaves memory while it waits."""
    with execution("parking", label, ctx) as this:
        await this.step(ctx, "one", 0.05)
        await this.ask(ctx)
        await this.step(ctx, "two", 0.05)
        await this.sleep(ctx, "one", seconds)
        await this.step(ctx, "three", 0.05)
        return this.ran


@app.tool
async def sleeping(label: str, seconds: float, *, ctx: Context) -> Ran:
    """Sleeps twice, with a step between."""
    with execution("sleeping", label, ctx) as this:
        await this.sleep(ctx, "one", seconds / 2)
        await this.step(ctx, "one", 0.0)
        await this.sleep(ctx, "two", seconds / 2)
        return this.ran


@app.tool
async def delegating(label: str, *, ctx: Context) -> Ran:
    """Asks the user's client, which may answer by a task of its own."""
    with execution("delegating", label, ctx) as this:
        await this.ask(ctx, as_task=True)
        return this.ran


@app.tool
async def hasty(label: str, seconds: float, *, ctx: Context) -> Ran:
    """Gives up on its question after a while."""
    with execution("hasty", label, ctx) as this:
        try:
            async with asyncio.timeout(seconds):
                await this.ask(ctx)
        except TimeoutError:
            this.ran.answer = ""
        return this.ran


@app.resource("chaos://{label}")
async def reading(label: str, *, ctx: Context) -> Ran:
    """Says who read it."""
    with execution("reading", label, ctx) as this:
        return this.ran
