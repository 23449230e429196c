"""An app for workers in processes of their own."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from receiver import Receiver


@asynccontextmanager
async def fail(app: Receiver) -> AsyncIterator[None]:
    """A lifespan that fails."""
    raise OSError("no database")
    yield  # what makes it a generator


app = Receiver("lone")
broken = Receiver("broken", lifespan=fail)


@app.tool
async def greet(name: str) -> str:
    """Ends at once."""
    return f"Hello, {name}"


@app.tool(max_attempts=1)
async def hold_up() -> None:
    """Holds the event loop up."""
    time.sleep(60)  # noqa: ASYNC251 - on purpose


@app.tool
async def linger() -> None:
    """Blocks a thread for longer than anybody waits."""
    await asyncio.to_thread(time.sleep, 3600)
