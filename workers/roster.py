"""What one worker runs, shared by its event loop and its heartbeat thread, and how many slots that leaves."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, NoReturn

from opentelemetry.trace import INVALID_SPAN, Span

from receiver.protocol.errors import ReplayDiverged
from receiver.store.record import ClaimedRun
from receiver.store.runs import Slots
from workers.waits import Waits

StopReason = Literal["cancelled", "expired", "superseded", "finished", "shutdown", "timeout", "parked"]

OVERDUE_SECONDS = 10.0


@dataclass(eq=False)
class ActiveRun:
    """A run on its way.  ``stop_reason`` is why it was told to stop, if it was; ``on_change`` hears of it.

    ``is_leaving``: its worker is, and keeps nothing that only waits; ``on_change`` hears of that, too.

    ``diverged``: it did something else than an earlier run of its task, which is how it ends.

    ``replays``: its author said that it may be run again from the top after a wait.

    ``has_begun``: its function was called, or may have been.  ``is_watched``: a vigil is kept over it.

    ``has_ended``: its function has, and the store has to be told.  ``is_settled``: the store knows what became of it.

    ``is_over``: nothing that its function still does counts.

    ``span``: what a trace shows of it.
    """

    claim: ClaimedRun
    stop_reason: StopReason | None = None
    on_change: Callable[[], None] = field(default=lambda: None)
    waits: Waits = field(default_factory=Waits)
    diverged: ReplayDiverged | None = None
    is_leaving: bool = False
    replays: bool = False
    has_begun: bool = False
    is_watched: bool = False
    has_ended: bool = False
    is_over: bool = False
    is_settled: bool = False
    span: Span = INVALID_SPAN
    _calls: Counter[str] = field(default_factory=Counter)

    def stop(self, reason: StopReason) -> None:
        """Tells the run to stop; only the first reason counts."""
        if self.stop_reason is None:
            self.stop_reason = reason
            self.on_change()

    def end(self) -> None:
        """Its function has ended, and gives its slot back."""
        self.has_ended = True
        self.waits.on_wait()

    def leave(self) -> None:
        """Its worker leaves: it may end, but not wait."""
        self.is_leaving = True
        self.on_change()

    @property
    def duration(self) -> float:
        """Seconds since it began, as log lines have it."""
        return round(self.waits.elapsed, 3)

    @property
    def may_run_again(self) -> bool:
        """Whether its function may be called again if it is stopped now, through no fault of its own."""
        return self.claim.max_attempts > 1 or not self.has_begun or (self.replays and self.waits.is_waiting)

    @property
    def time_left(self) -> float | None:
        """Seconds that it may still run; None if there is no limit, or while it only waits.  For any thread."""
        timeout = self.claim.text("timeout")
        return int(timeout) / 1000 - self.waits.ran if timeout and not self.waits.is_waiting else None

    @property
    def is_overdue(self) -> bool:
        """Whether its vigil has long failed to end it.  For any thread."""
        left = self.time_left if self.is_watched else None
        return left is not None and left < -OVERDUE_SECONDS

    def name_call(self, kind: str) -> str:
        """The name of its next call of this kind: a later run makes the same calls, and finds what was recorded.

        Raises ReplayDiverged once it did something else: it gets no further.
        """
        if self.diverged is not None:
            raise self.diverged
        self._calls[kind] += 1
        return f"{kind}#{self._calls[kind]}"

    def diverge(self, text: str) -> ReplayDiverged:
        """The error of a call that an earlier run made otherwise."""
        self.diverged = self.diverged or ReplayDiverged(text)
        return self.diverged

    def on_news(self) -> None:
        """What it waits for may be there, or it is over."""
        self.waits.notify()

    async def rest(self, news: asyncio.Event, seconds: float | None = None) -> None:
        """Waits for news.  Nobody could cancel a plain function that waits: it hears here that its run is over."""
        if not self.is_over:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await news.wait()
        if self.is_over:
            raise asyncio.CancelledError

    async def rest_for_ever(self) -> NoReturn:
        """For a run whose task is not its own any more: it is about to be stopped."""
        with self.waits.wait("the end") as news:
            while True:
                await self.rest(news)
                news.clear()


class Roster:
    """The runs of a worker with ``capacity`` slots, ``reserved`` of them for plain calls only."""

    def __init__(self, capacity: int, reserved: int) -> None:
        self._capacity = capacity
        self._open_capacity = capacity - min(reserved, capacity - 1)
        self._lock = threading.Lock()
        self._runs: dict[str, ActiveRun] = {}
        self._acknowledged = 0

    def __len__(self) -> int:
        return len(self._runs)

    def stop(self, task_id: str, run: int, reason: StopReason) -> None:
        """Tells a run to stop, if it is still here; another run of its task is left alone."""
        active = self._runs.get(task_id)
        if active is not None and active.claim.run == run:
            active.stop(reason)

    def find(self, task_id: str) -> ActiveRun | None:
        """The run of a task, if it is here."""
        return self._runs.get(task_id)

    def runs(self) -> list[ActiveRun]:
        """All runs."""
        return list(self._runs.values())

    def add(self, claims: Iterable[ClaimedRun], number: int) -> list[ActiveRun]:
        """Takes up what the claim ``number`` gave, in one step: a heartbeat sees either both or neither."""
        active = [ActiveRun(claim) for claim in claims]
        with self._lock:
            self._runs.update((run.claim.task_id, run) for run in active)
            self._acknowledged = number
        return active

    def remove(self, run: ActiveRun) -> None:
        """Forgets a run that ended."""
        with self._lock:
            if self._runs.get(run.claim.task_id) is run:
                del self._runs[run.claim.task_id]

    def overdue(self) -> set[str]:
        """The tasks whose run should have ended long ago, and has not: the event loop stands still, or worse."""
        with self._lock:
            return {task_id for task_id, run in self._runs.items() if run.is_overdue}

    def snapshot(self) -> tuple[int, dict[str, int]]:
        """The last acknowledged claim, and the number of each run by task id."""
        with self._lock:
            return self._acknowledged, {task_id: run.claim.run for task_id, run in self._runs.items()}

    @property
    def waiting(self) -> int:
        """How many of the runs only wait."""
        return sum(run.waits.is_waiting for run in self.runs())

    @property
    def slots(self) -> Slots:
        """The free slots.  A run that waits has none; when it goes on, there may be more of them than slots.

        One that only has to tell the store of its end has none either, so that the next is claimed meanwhile; while the
        store is slow, there are not more of these than slots.
        """
        runs = [run for run in self.runs() if not run.waits.is_waiting]
        ended = sum(run.has_ended for run in runs)
        busy = [run for run in runs if not run.has_ended]
        free = self._capacity - len(busy) - max(0, ended - self._capacity)
        tasks = sum(run.claim.kind == "task" for run in busy)
        return Slots(max(0, free), max(0, min(free, self._open_capacity - tasks)))
