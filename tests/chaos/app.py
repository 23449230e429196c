"""The tools under test.  Each execution leaves lines of ground truth, synced to disk before it goes on.

A result says which execution gave it: task, run, and a nonce that no other execution has.
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
    """Which execution gave a result, and what it was answered if it asked."""

    label: str
    task: str | None
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
        self.ran = Ran(label=label, task=ctx.task_id, run=ctx.run, attempt=ctx.attempt, nonce=secrets.token_hex(8))

    def write(self, event: str) -> None:
        """Writes one line; several processes may do so at the same time."""
        line = {"event": event, "tool": self._tool, **self.ran.model_dump(), "pid": os.getpid(), "at": time.time()}
        file = os.open(FOLDER / "truth.jsonl", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        try:
            os.write(file, json.dumps(line).encode() + b"\n")
            os.fsync(file)
        finally:
            os.close(file)


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
        answer: Any = await ctx.elicit("Which word?", Reply)
        await asyncio.sleep(seconds)
        this.ran.answer = "" if answer.content is None else str(Reply.model_validate(answer.content).word)
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
