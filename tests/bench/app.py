"""What is measured: tools that take no time."""

import time

from receiver import Receiver

app = Receiver("bench")


@app.tool(task="optional")
async def instant(text: str) -> str:
    """Returns its text."""
    return text


@app.tool(task="optional")
async def clock() -> str:
    """Returns the time at which it was called, in nanoseconds."""
    return str(time.time_ns())


@app.tool(task="optional")
async def write(count: int) -> str:
    """Returns so many letters."""
    return "x" * count
