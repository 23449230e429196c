"""An app whose tools run in processes of their own, and what they do to those."""

import asyncio
import ctypes
import itertools
import os
import re
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from opentelemetry import trace
from pydantic import BaseModel

from receiver import Context, Isolation, Receiver, Retry, ToolError

NAME = "tests.workers.poison:app"


@asynccontextmanager
async def open_state(app: Receiver) -> AsyncIterator[dict[str, int]]:
    """A lifespan."""
    yield {"pid": os.getpid()}


app = Receiver("poison", lifespan=open_state)


class Form(BaseModel):
    name: str


class Seen(BaseModel):
    pid: int
    task_id: str | None
    run: int
    attempt: int
    state: dict[str, int]
    subject: str


@app.tool(isolate=True)
async def look(label: str, ctx: Context) -> Seen:
    """Says what it sees."""
    await ctx.progress(1, 2, label)
    await ctx.status(f"looking at {label}")
    await ctx.log("info", {"label": label})
    print(f"looking at {label}")
    subject = ctx.principal.subject
    return Seen(
        pid=os.getpid(), task_id=ctx.task_id, run=ctx.run, attempt=ctx.attempt, state=ctx.state, subject=subject
    )


@app.tool(isolate=True)
def look_plainly(ctx: Context) -> int:
    """The same from a thread."""
    ctx.sync.status("looking plainly")
    return os.getpid()


@app.tool(isolate=True)
def tell_trace(ctx: Context) -> list[str]:
    """The trace and span that it runs in, and those of a step."""
    trace.get_tracer("poison").start_span("inner").end()
    return [_trace_here(), ctx.sync.step("there", _trace_here)]


def _trace_here() -> str:
    here = trace.get_current_span().get_span_context()
    return f"{here.trace_id:032x} {here.span_id:016x}"


@app.tool(isolate=True)
async def ask(ctx: Context) -> str:
    """Asks, and says what it was answered."""
    answer = await ctx.elicit("Which name?", Form)
    return Form.model_validate(answer.content).name


@app.tool(isolate=True, replay=True)
def nap(folder: str, ctx: Context) -> int:
    """A step, then a sleep, then another step; says in which run it ended."""
    ctx.sync.step("first", _note, folder, "first")
    ctx.sync.sleep(0.5)
    ctx.sync.step("second", _note, folder, "second")
    return ctx.run


@app.tool(isolate=True)
async def err(what: str, ctx: Context) -> None:
    """Raises something."""
    if what == "step":
        await ctx.step("fail", _fail)
    if what == "sleep":
        await ctx.sleep(-1)
    if what == "progress":
        await ctx.progress(float("nan"))
    if what == "retry" and ctx.attempt == 1:
        raise Retry(0)
    if what == "tool":
        raise ToolError("no way")


def _fail() -> None:
    raise ToolError("the step failed")


def _note(folder: str, what: str) -> None:
    with (Path(folder) / what).open("a") as file:
        file.write(f"{os.getpid()}\n")


# Poison


@app.tool(isolate=True, max_attempts=2)
def poison(how: str) -> str:
    """Ends its process, or would take all its memory."""
    if how == "segfault":
        ctypes.string_at(0)
    elif how == "kill":
        os.kill(os.getpid(), 9)
    elif how == "exit":
        os._exit(3)
    return "it lives"


@app.tool(isolate=True, max_attempts=1)
def poison_once() -> None:
    """Ends its process."""
    os.kill(os.getpid(), 9)


@app.tool(isolate=Isolation(memory="64MiB"))
def swallow(mebibytes: int) -> int:
    """Needs memory."""
    return len(bytearray(mebibytes * 2**20)) // 2**20


@app.tool(isolate=Isolation(memory="64MiB"))
async def swallow_async(mebibytes: int) -> int:
    """The same in a coroutine."""
    return len(bytearray(mebibytes * 2**20)) // 2**20


@app.tool(isolate=True, timeout="3s")
def spin_briefly(folder: str) -> None:
    """Never ends, and can't be interrupted."""
    spin("count", folder)


@app.tool(isolate=True)
def spin(how: str, folder: str) -> None:
    """Never ends, and can't be interrupted."""
    _note(folder, "pid")
    if how == "count":
        sum(itertools.count())
    elif how == "regex":
        re.match(r"(a+)+$", "a" * 60 + "b")
    elif how == "child":
        with subprocess.Popen(["sleep", "3600"]) as child:  # noqa: S607
            (Path(folder) / "child").write_text(str(child.pid))
    while True:
        time.sleep(1)


@app.tool(isolate=True, max_attempts=1)
async def doze(folder: str) -> None:
    """Never ends, but cleans up."""
    _note(folder, "pid")
    try:
        await asyncio.sleep(3600)
    finally:
        _note(folder, "cleaned")


@app.tool(isolate=True, max_attempts=1)
async def doze_waiting(folder: str, ctx: Context) -> None:
    """Waits without a slot."""
    _note(folder, "pid")
    await ctx.sleep(3600)


@app.tool
async def innocent() -> int:
    """Runs in the worker itself."""
    return os.getpid()
