"""``ops.cli``, with a seeded bug or a failpoint built in before it starts: the product has no hook for either.

``CHAOS_BUG``: a name in ``bugs.py``.  ``CHAOS_FAILPOINT``: ``script:before:7`` or ``script:after:7``: the process is
killed before the seventh call of that script, or when the store has answered it.  ``CHAOS_CLOCK``: by how many seconds
this process has the time wrong.
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from receiver.store.client import Client
from receiver.store.workers import WorkerStore
from tests.chaos import bugs
from tests.chaos.pace import Pace, now

LOOK_SECONDS = 0.1


def watch_pace(folder: Path, lease: float) -> None:
    """Writes down when this process was held up, for ever: a machine that gives it no time is nobody's fault."""
    pace = Pace(lease)
    while True:
        begun = now()
        time.sleep(LOOK_SECONDS)
        ended = now()
        if (since := pace.look(ended, ended - begun - LOOK_SECONDS)) is not None:
            line = json.dumps({"kind": "stall", "target": f"process {os.getpid()}", "begun": since, "ended": ended})
            with (folder / "stalls.jsonl").open("a", encoding="utf-8") as file:
                file.write(line + "\n")


def skew_clock(seconds: float) -> None:
    """Has every module of this process, loaded or not, take a wrong time for the right one."""
    right = time.time

    def wrong() -> float:
        return right() + seconds

    for module in [*sys.modules.values()]:
        for name in [name for name, value in vars(module).items() if value is right]:
            setattr(module, name, wrong)


class Failpoint:
    """Counts the calls of one script, and kills this process at one of them."""

    def __init__(self, text: str) -> None:
        self.script, self._moment, number = text.split(":")
        self._left = int(number)

    def pass_by(self, script: str, moment: str) -> None:
        """To be called at every place that has a name."""
        if (script, moment) == (self.script, self._moment):
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


def plant(failpoint: Failpoint) -> None:
    """Wraps all calls of scripts."""
    evaluate, beat = Client.evaluate, WorkerStore._evaluate

    async def evaluate_or_die(self: Client, name: str, *arguments: Any, admitted: bool = False) -> Any:
        failpoint.pass_by(name, "before")
        answer = await evaluate(self, name, *arguments, admitted=admitted)
        failpoint.pass_by(name, "after")
        return answer

    def beat_or_die(self: WorkerStore, name: str, *arguments: Any) -> Any:
        failpoint.pass_by(name, "before")
        answer = beat(self, name, *arguments)
        failpoint.pass_by(name, "after")
        return answer

    Client.evaluate = evaluate_or_die  # type: ignore[method-assign]
    WorkerStore._evaluate = beat_or_die  # type: ignore[method-assign]


def main() -> None:
    """Builds in what the environment names, and becomes the command line."""
    where = (Path(os.environ["CHAOS_FOLDER"]), float(os.environ["RECEIVER_LEASE_SECONDS"]))
    threading.Thread(target=watch_pace, args=where, daemon=True).start()
    if seconds := float(os.environ.get("CHAOS_CLOCK") or 0):
        skew_clock(seconds)
    if name := os.environ.get("CHAOS_BUG"):
        bugs.build_in(name)
    if text := os.environ.get("CHAOS_FAILPOINT"):
        plant(Failpoint(text))
    from ops.cli import main as run

    run()


if __name__ == "__main__":
    main()
