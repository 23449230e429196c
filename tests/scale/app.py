"""What is served while it is measured.  Clocks are ``time.time``: all processes are on one machine."""

import asyncio
import os
import time
from pathlib import Path

from pydantic import BaseModel

from receiver import Context, Receiver
from tests.scale import pulse
from tests.scale.deployment import GATE

FOLDER = Path(os.environ["ACCEPTANCE_FOLDER"])
LOOK_SECONDS = 0.05

app = Receiver("scale", version="1.0.0")
pulse.install(FOLDER)


class Times(BaseModel):
    """When a run began, or went on, and when it ended."""

    started: float
    ended: float


class Consent(BaseModel):
    """What is asked for."""

    go: bool


@app.tool
async def held() -> Times:
    """Ends when the gate is open."""
    started = time.time()
    while not (FOLDER / GATE).exists():  # noqa: ASYNC110 - who opens it is another process
        await asyncio.sleep(LOOK_SECONDS)
    return Times(started=started, ended=time.time())


@app.tool
async def timed(wait: float = 0.0) -> Times:
    """Ends after ``wait`` seconds."""
    started = time.time()
    await asyncio.sleep(wait)
    return Times(started=started, ended=time.time())


@app.tool
async def asking(*, ctx: Context) -> Times:
    """Asks, and stays in memory until it is answered."""
    return await ask(ctx)


@app.tool(replay=True)
async def asking_parked(*, ctx: Context) -> Times:
    """Asks, and is parked until it is answered."""
    return await ask(ctx)


async def ask(ctx: Context) -> Times:
    await ctx.elicit("Go on?", Consent)
    resumed = time.time()
    return Times(started=resumed, ended=resumed)
