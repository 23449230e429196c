"""The heartbeat: renews the leases of all runs, from a thread that a busy event loop can't hold up.

It also watches that event loop.  A worker whose loop stands still is no use and would keep its tasks for ever; and it
would not hear that it shall stop.
"""

import asyncio
import faulthandler
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import structlog

from receiver.store.client import is_passing
from receiver.store.scripts import Argument
from receiver.store.workers import WorkerStore
from receiver.telemetry.logs import bind
from workers.roster import Roster

EXIT_STALLED = 70
RETRY_SECONDS = 0.25
LATE_SECONDS = 1.0  # a process that should have ended is not waited for any longer than this

log = structlog.get_logger(__name__)


class Heartbeat(threading.Thread):
    """Beats every ``interval`` seconds, and has each run stopped that the store does not leave to this worker.

    ``presence`` is what operators see of the worker.  ``is_late`` says whether the process should have ended.
    """

    def __init__(
        self,
        store: WorkerStore,
        worker: str,
        roster: Roster,
        presence: Mapping[str, Argument],
        interval: float,
        stall_seconds: float,
        is_late: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(name="heartbeat", daemon=True)
        self._store = store
        self._worker = worker
        self._roster = roster
        self._presence = presence
        self._interval = interval
        self._stall_seconds = stall_seconds
        self._is_late = is_late
        self._loop = asyncio.get_running_loop()
        self._ended = threading.Event()
        self._asked_at: float | None = None  # since when the loop owes a tick
        self._is_failing = False
        self._given_up: set[str] = set()

    def run(self) -> None:
        """The thread's work, until ``end``."""
        bind(worker_id=self._worker)  # a thread begins without
        pause = 0.0
        while not self._ended.wait(pause):
            self._watch_loop()
            pause = self._interval if self._beat() else min(RETRY_SECONDS, self._interval)
        self._store.close()

    async def end(self, seconds: float) -> None:
        """Ends the thread, and waits until it has sent its last beat, but not longer than ``seconds``."""
        self._ended.set()
        await asyncio.to_thread(self.join, seconds)

    def _beat(self) -> bool:
        acknowledged, running = self._roster.snapshot()
        presence = {**self._presence, "running": len(running), "waiting": self._roster.waiting}
        try:
            stops = self._store.beat(self._worker, acknowledged, presence, self._renewed(running))
        except Exception as error:
            self._report_failure(error)
            return False
        self._is_failing = False
        for task_id, reason in stops.items():
            self._call_on_loop(self._roster.stop, task_id, running[task_id], reason)
        return True

    def _renewed(self, running: Mapping[str, int]) -> dict[str, int | None]:
        """All runs but those that should have ended long ago: another worker shall have their tasks."""
        overdue = self._roster.overdue()
        for task_id in (overdue & running.keys()) - self._given_up:
            log.error("run_overdue", task_id=task_id, run=running[task_id])
        self._given_up = overdue
        return {task_id: None if task_id in overdue else run for task_id, run in running.items()}

    def _report_failure(self, error: Exception) -> None:
        if not is_passing(error):
            log.error("heartbeat_failed", exc_info=error)
        elif not self._is_failing:
            log.warning("heartbeat_missed", error=type(error).__name__)
        self._is_failing = True

    def _watch_loop(self) -> None:
        """Asks the loop for a tick; one that it owes for too long ends the process.

        How long ago the last tick was would say nothing: this process may have been stopped as a whole.
        """
        now = time.monotonic()
        if self._asked_at is None:
            self._asked_at = now
            self._call_on_loop(self._tick)
            return
        owed = now - self._asked_at
        if owed > self._stall_seconds or (owed > min(LATE_SECONDS, self._stall_seconds) and self._is_late()):
            log.critical("event_loop_stalled", seconds=round(owed, 3))
            faulthandler.dump_traceback(file=sys.__stderr__ or 2, all_threads=True)
            os._exit(EXIT_STALLED)  # nothing that needs the loop could end this process

    def _tick(self) -> None:
        self._asked_at = None

    def _call_on_loop(self, callback: Callable[..., None], *arguments: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:  # the loop is closed: the worker has ended
            self._ended.set()
