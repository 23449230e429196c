"""How far a run is, as its requestor hears it: strictly rising, over all runs of a task (T-62)."""

import asyncio
import math

import orjson

from receiver.protocol.messages import render_progress
from receiver.protocol.outcome import one_line
from receiver.store.record import ClaimedRun
from receiver.store.runs import Notice
from receiver.store.scripts import Argument
from workers.reporter import Reporter

MOST_WAITING = 10  # progress notifications that wait to be sent: those of a tenth of a second
PULSE_SECONDS = 20.0


class Progress:
    """The progress of one run.  ``task_id`` is None for a plain call, whose messages name no task."""

    def __init__(self, claim: ClaimedRun, task_id: str | None, reporter: Reporter) -> None:
        self._reporter = reporter
        self._task_id = task_id
        self._token = orjson.loads(claim.text("progress_token") or "null")
        self._done = float(claim.text("progress") or "-inf")  # an earlier run came that far
        self._said = asyncio.Event()

    def report(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Says how far the work is; what does not rise is not said."""
        fields: dict[str, Argument] = {"progress": _write_number(done)}
        if total is not None:
            fields["progress_total"] = _write_number(total)
        if message is not None:
            message = message.encode("utf-8", "replace").decode()  # names of files may be no Unicode
            fields["progress_message"] = one_line(message)
        if done > self._done:
            self._reporter.report(fields)
            self._say(done, total, message)

    async def keep_pulse(self) -> None:
        """Tells a waiting caller every 20 s that the work goes on, for ever: its host gives up on silence.

        What it says rises by so little that it stays below whatever the tool itself may say next.
        """
        loop = asyncio.get_running_loop()
        started = loop.time()
        while self._token is not None:
            self._said.clear()
            try:
                async with asyncio.timeout(PULSE_SECONDS):
                    await self._said.wait()
            except TimeoutError:
                seconds = round(loop.time() - started)
                done = seconds / 1_000_000 if self._done == -math.inf else math.nextafter(self._done, math.inf)
                self._say(done, None, f"Running for {seconds} s")

    def _say(self, done: float, total: float | None, message: str | None) -> None:
        self._done = done
        self._said.set()
        if self._token is not None:  # T-60
            body = render_progress(self._token, done, total, message, self._task_id)
            self._reporter.say(Notice(body), most=MOST_WAITING)


def _write_number(number: float) -> str:
    """A number as JSON, exactly."""
    if not math.isfinite(number):
        raise ValueError(f"progress is a finite number, not {number!r}")
    return str(int(number)) if isinstance(number, int) else repr(float(number))
