"""The heartbeat: renews the leases of all runs, from a thread that a busy event loop can't hold up.

It also watches that event loop.  A worker whose loop stands still is no use and would keep its tasks for ever.
"""

import asyncio
import faulthandler
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping

import structlog

from receiver.store.client import is_passing
from receiver.store.scripts import Argument
from receiver.store.workers import WorkerStore
from workers.roster import Roster

EXIT_STALLED = 70
RETRY_SECONDS = 0.25

log = structlog.get_logger(__name__)


class Heartbeat(threading.Thread):
    """Beats every ``interval`` seconds.  ``stop_run(task_id, reason)`` is called on the loop for each lost run."""

    def __init__(
        self,
        store: WorkerStore,
        worker: str,
        roster: Roster,
        stop_run: Callable[[str, str], None],
        *,
        presence: Mapping[str, Argument],
        interval: float,
        stall_seconds: float,
    ) -> None:
        super().__init__(name="heartbeat", daemon=True)
        self._store = store
        self._worker = worker
        self._roster = roster
        self._stop_run = stop_run
        self._presence = presence
        self._interval = interval
        self._stall_seconds = stall_seconds
        self._loop = asyncio.get_running_loop()
        self._ended = threading.Event()
        self._last_tick = time.monotonic()
        self._is_failing = False

    def run(self) -> None:
        """The thread's work, until ``end``."""
        pause = 0.0
        while not self._ended.wait(pause):
            self._watch_loop()
            pause = self._interval if self._beat() else min(RETRY_SECONDS, self._interval)
        self._store.close()

    def end(self) -> None:
        """Ends the thread; leases are no longer renewed."""
        self._ended.set()

    def _beat(self) -> bool:
        acknowledged, running = self._roster.snapshot()
        presence = {**self._presence, "running": len(running)}
        try:
            stops = self._store.beat(self._worker, acknowledged, presence, running)
        except Exception as error:
            self._report_failure(error)
            return False
        self._is_failing = False
        for task_id, reason in stops.items():
            self._call_on_loop(self._stop_run, task_id, reason)
        return True

    def _report_failure(self, error: Exception) -> None:
        if not is_passing(error):
            log.error("heartbeat_failed", exc_info=error)
        elif not self._is_failing:
            log.warning("heartbeat_missed", error=type(error).__name__)
        self._is_failing = True

    def _watch_loop(self) -> None:
        if time.monotonic() - self._last_tick > self._stall_seconds:
            log.critical("event_loop_stalled", seconds=self._stall_seconds)
            faulthandler.dump_traceback(file=sys.__stderr__ or 2, all_threads=True)
            os._exit(EXIT_STALLED)  # nothing that needs the loop could end this process
        self._call_on_loop(self._tick)

    def _tick(self) -> None:
        self._last_tick = time.monotonic()

    def _call_on_loop(self, callback: Callable[..., None], *arguments: str) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:  # the loop is closed: the worker has ended
            self.end()
