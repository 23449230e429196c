"""The Context of a run."""

import asyncio
import math
import threading
from collections.abc import Coroutine
from typing import Any, get_args

import structlog

from receiver.context import Context, LogLevel, SyncContext
from receiver.principal import Principal
from receiver.protocol.outcome import one_line
from receiver.store.scripts import Argument
from workers.reporter import Reporter
from workers.roster import ActiveRun

log = structlog.get_logger("receiver.tool")

# Python has fewer levels.
_LEVELS = {level: level for level in get_args(LogLevel)} | {
    "notice": "info",
    "alert": "critical",
    "emergency": "critical",
}


class RunContext(Context):
    """What a tool sees of its run; made on the event loop, usable from any thread."""

    def __init__(self, active: ActiveRun, principal: Principal, state: Any, reporter: Reporter) -> None:
        self._active = active
        self._principal = principal
        self._state = state
        self._reporter = reporter
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._done = float(active.claim.text("progress") or "-inf")  # an earlier run came that far

    @property
    def task_id(self) -> str | None:
        claim = self._active.claim
        return claim.task_id if claim.kind == "task" else None

    @property
    def run(self) -> int:
        return self._active.claim.run

    @property
    def attempt(self) -> int:
        return self._active.claim.attempt

    @property
    def state(self) -> Any:
        return self._state

    @property
    def principal(self) -> Principal:
        return self._principal

    @property
    def cancelled(self) -> bool:
        return self._active.stop_reason is not None

    @property
    def sync(self) -> SyncContext:
        return SyncContext(self, self._block_on)

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        fields: dict[str, Argument] = {"progress": _write_number(done)}
        if total is not None:
            fields["progress_total"] = _write_number(total)
        if message is not None:
            fields["progress_message"] = one_line(message)
        if done > self._done:  # T-62
            self._done = done
            self._reporter.report(fields)

    async def status(self, message: str) -> None:
        self._reporter.report({"status_message": one_line(message)})

    async def log(self, level: LogLevel, data: Any) -> None:
        if level not in _LEVELS:
            raise ValueError(f"{level!r} is not a log level: {', '.join(_LEVELS)}")
        write = getattr(log, _LEVELS[level])
        write("tool_log", task_id=self._active.claim.task_id, tool=self._active.claim.text("tool"), data=data)

    def _block_on(self, work: Coroutine[Any, Any, None]) -> None:
        if threading.get_ident() == self._loop_thread:
            work.close()
            raise RuntimeError("ctx.sync is for plain functions; an async tool would wait for itself for ever")
        asyncio.run_coroutine_threadsafe(work, self._loop).result()


def _write_number(number: float) -> str:
    """A number as JSON, exactly."""
    if not math.isfinite(number):
        raise ValueError(f"progress is a finite number, not {number!r}")
    return str(int(number)) if isinstance(number, int) else repr(float(number))
