"""What one worker runs, shared by its event loop and its heartbeat thread, and how many slots that leaves."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from receiver.store.record import ClaimedRun
from receiver.store.runs import Slots

StopReason = Literal["cancelled", "expired", "superseded", "finished", "shutdown", "timeout"]


@dataclass(eq=False)
class ActiveRun:
    """A run on its way.  ``stop_reason`` is why it was told to stop, if it was; ``on_stop`` hears of it.

    ``on_news`` is called when an answer to one of its questions may be there, or it is over.

    ``is_over``: nothing that its function still does counts.  ``is_settled``: the store knows what became of it.
    """

    claim: ClaimedRun
    stop_reason: StopReason | None = None
    on_stop: Callable[[], None] = field(default=lambda: None)
    on_news: Callable[[], None] = field(default=lambda: None)
    is_over: bool = False
    is_settled: bool = False

    def stop(self, reason: StopReason) -> None:
        """Tells the run to stop; only the first reason counts."""
        if self.stop_reason is None:
            self.stop_reason = reason
            self.on_stop()


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

    def snapshot(self) -> tuple[int, dict[str, int]]:
        """The last acknowledged claim, and the number of each run by task id."""
        with self._lock:
            return self._acknowledged, {task_id: run.claim.run for task_id, run in self._runs.items()}

    @property
    def slots(self) -> Slots:
        """The free slots."""
        runs = self.runs()
        free = self._capacity - len(runs)
        tasks = sum(run.claim.kind == "task" for run in runs)
        return Slots(max(0, free), max(0, min(free, self._open_capacity - tasks)))
