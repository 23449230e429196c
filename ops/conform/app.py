"""The fixture tools, for this server: ``receiver dev ops.conform.app:app`` serves them."""

import asyncio
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from mcp_types import CallToolResult, ImageContent, TextContent
from pydantic import BaseModel

from ops.conform.fixtures import FIXTURES, PREFIX
from receiver import Context, Receiver, ReceiverError, ToolError
from receiver.protocol.loglevel import LogLevel

F = TypeVar("F", bound=Callable[..., Any])
TICK_SECONDS = 0.1

app = Receiver("conform", version="1.0.0")


def fixture(role: str, *, immediate: str | None = None) -> Callable[[F], F]:
    """Makes a function the tool with this role."""
    meant = FIXTURES[role]
    return app.tool(name=PREFIX + role, description=meant.does, task=meant.support, immediate=immediate)


class Measured(BaseModel):
    """What ``conform_structured`` returns."""

    text: str
    length: int


class Form(BaseModel):
    """What ``conform_elicit`` asks for."""

    answer: str


@fixture("echo")
async def echo(text: str) -> str:
    return text


@fixture("forbidden")
async def forbidden(text: str) -> str:
    return text


@fixture("required", immediate="The echo is on its way.")
async def required(text: str) -> str:
    return text


@fixture("sleep")
async def sleep(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return f"slept {seconds:g} s"


@fixture("stubborn")
def stubborn(seconds: float) -> str:
    time.sleep(seconds)  # in a thread, which nothing stops
    return f"slept {seconds:g} s"


@fixture("tick")
async def tick(label: str, ticks: int) -> str:
    for count in range(1, ticks + 1):
        fresh = _counter(label).with_suffix(".new")
        fresh.write_text(str(count))
        fresh.replace(_counter(label))  # whoever reads it meanwhile never finds it empty
        await asyncio.sleep(TICK_SECONDS)
    return "done"


@fixture("ticks")
async def count_ticks(label: str) -> str:
    return _counter(label).read_text() if _counter(label).exists() else "0"


@fixture("close")
async def close(ctx: Context) -> str:
    await ctx.close_stream()
    await asyncio.sleep(1)
    return "done"


@fixture("fail")
async def fail(text: str) -> str:
    raise ToolError(text)


@fixture("error")
async def raise_error(code: int, message: str, data: Any = None) -> str:
    raise ReceiverError(message, code=code, data=data)


@fixture("structured")
async def measure(text: str) -> Measured:
    return Measured(text=text, length=len(text))


@fixture("blocks")
async def blocks() -> list[TextContent | ImageContent]:
    return [TextContent(text="a text", type="text"), ImageContent(data="AAAA", mime_type="image/png", type="image")]


@fixture("meta")
async def bring_meta(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text, type="text")], _meta={"example.org/conform": text})


@fixture("progress")
async def progress(steps: int, ctx: Context) -> str:
    for step in range(1, steps + 1):
        await ctx.progress(step, total=steps)
        await asyncio.sleep(TICK_SECONDS)
    return "done"


@fixture("log")
async def log(level: LogLevel, message: str, ctx: Context) -> str:
    await ctx.log(level, message)
    return "done"


@fixture("status")
async def status(message: str, seconds: float, ctx: Context) -> str:
    await ctx.status(message)
    await asyncio.sleep(seconds)
    return "done"


@fixture("elicit")
async def elicit(message: str, ctx: Context, times: int = 1) -> str:
    for _ in range(times):
        answer = await ctx.elicit(message, Form)
    return f"{answer.action} {answer.content['answer']}" if answer.content else answer.action


@fixture("elicit_url")
async def elicit_url(message: str, url: str, ctx: Context) -> str:
    link = await ctx.elicit_url(message, url)
    if link.action == "accept":
        await ctx.elicitation_complete(link.elicitation_id)
    return link.action


@fixture("sample")
async def sample(prompt: str, ctx: Context) -> str:
    return str((await ctx.sample(prompt, max_tokens=100))["content"]["text"])


def _counter(label: str) -> Path:
    """Where tick keeps its count, for all workers of a machine."""
    return Path(tempfile.gettempdir()) / f"conform-{label.encode().hex()}"
