"""The pauses of an API node's event loop, measured from inside: the product has no hook for it.

A tick that comes late by more than ``NOTED_SECONDS`` is a line in ``pauses``, in the deployment's folder.
"""

import asyncio
import json
import time
from dataclasses import dataclass
from pathlib import Path

from receiver.hub import Hub
from tests.jsonlines import read_lines

TICK_SECONDS = 0.005
NOTED_SECONDS = 0.02


def install(folder: Path) -> None:
    """Has every node of this process write down its pauses."""
    start = Hub.start

    def start_with_pulse(self: Hub) -> None:
        start(self)
        self._spawn(_keep_ticking(folder / "pauses"))

    Hub.start = start_with_pulse  # type: ignore[method-assign]


@dataclass(frozen=True)
class Pause:
    """``late``: how long nothing else could run; ``busy``: how long of that the loop itself worked.  In seconds.

    They differ where the machine had no time for the process.
    """

    late: float = 0.0
    busy: float = 0.0

    def __str__(self) -> str:
        return f"{1000 * self.late:.0f} ms, {1000 * self.busy:.0f} ms of it its own work"


def longest_pause(folder: Path, since: float, until: float) -> Pause:
    """The longest pauses, of either kind, between two moments of ``time.time``; 0 if none was worth a note."""
    found = [line for line in read_lines(folder / "pauses") if since <= line["at"] <= until]
    return Pause(max((line["late"] for line in found), default=0.0), max((line["busy"] for line in found), default=0.0))


async def _keep_ticking(file: Path) -> None:
    loop = asyncio.get_running_loop()
    while True:
        due, used = loop.time() + TICK_SECONDS, time.thread_time()
        await asyncio.sleep(TICK_SECONDS)
        if (late := loop.time() - due) > NOTED_SECONDS:
            busy = min(late, time.thread_time() - used)
            with file.open("a", encoding="utf-8") as out:
                out.write(json.dumps({"at": time.time(), "late": late, "busy": busy}) + "\n")
