"""What workers do with tasks.  Every write of a run passes its fence, and touches nothing on a mismatch."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from receiver.protocol.outcome import Outcome
from receiver.store.client import Client
from receiver.store.record import ClaimedRun, to_claimed_run
from receiver.store.scripts import Argument
from receiver.store.tasks import new_nonce
from receiver.telemetry import metrics


class Verdict(IntEnum):
    """Whether a run's write took effect, or why not."""

    DONE = 1
    GONE = -1
    SUPERSEDED = -2
    TERMINAL = -3
    HANDED_BACK = -4


@dataclass(frozen=True, slots=True)
class QueueShare:
    """A queue that a worker serves.  ``cap``: runs at the same time in all workers; None for no limit."""

    name: str
    cap: int | None
    is_plain: bool


@dataclass(frozen=True, slots=True)
class Slots:
    """Free slots of a worker: ``free`` in all, ``open`` of them for other than plain calls."""

    free: int
    open: int


@dataclass(frozen=True, slots=True)
class Notice:
    """A notification as JSON; ``rank`` is that of a log message's level, None for other notifications."""

    body: bytes
    rank: int | None = None


class RunStore:
    """The runs of all workers.  ``lease`` in milliseconds."""

    def __init__(self, client: Client, *, lease: int) -> None:
        self._client = client
        self._lease = lease

    async def claim(
        self, worker: str, number: int, slots: Slots, queues: Sequence[QueueShare], running: Mapping[str, int]
    ) -> tuple[list[ClaimedRun], int | None]:
        """The next runs of this worker, and the ms until the next retry is due.

        ``number`` rises with every claim of a worker; ``running`` is what it still runs, by task id.
        """
        shares = [item for queue in queues for item in (queue.name, queue.cap or 0, int(queue.is_plain))]
        runs = [item for pair in running.items() for item in pair]
        head = (worker, number, self._lease, slots.free, slots.open)
        now, due, entries, lost = await self._client.call("claim", *head, len(queues), *shares, *runs)
        _read_lost(lost)
        return [to_claimed_run(now, entry) for entry in entries], None if due < 0 else due

    async def finish(self, task_id: str, run: int, outcome: Outcome) -> Verdict:
        """Ends a run with its outcome."""
        head = (task_id, run, new_nonce(), outcome.status, outcome.diagnosis or "")
        verdict = Verdict(await self._client.call("finish", *head, outcome.kind, outcome.payload))
        if verdict is not Verdict.DONE:
            metrics.count_rejected(verdict.name.lower(), outcome.status)
        return verdict

    async def requeue(self, task_id: str, run: int, reason: Literal["handed_back", "retry"], delay: int = 0) -> Verdict:
        """Gives a run back to the queue, due in ``delay`` ms.  A retry counts as an attempt, a hand-back does not."""
        return Verdict(await self._client.call("requeue", task_id, run, new_nonce(), reason, delay))

    async def park(self, task_id: str, run: int, waits: Sequence[str]) -> bool:
        """Parks a run that only waits: for these questions and sleeps.

        False, and nothing has happened, if one of them is over, or is answered by a task of the client's; or if the
        task is not this run's any more, which its worker hears in other ways.
        """
        return int(await self._client.call("park", task_id, run, new_nonce(), *waits)) == 1

    async def report(
        self, task_id: str, run: int, fields: Mapping[str, Argument], notices: Sequence[Notice] = ()
    ) -> Verdict:
        """Writes what a run says of itself; a ``status_message`` among it is a change that requestors see."""
        pairs = [item for pair in fields.items() for item in pair]
        said = [item for notice in notices for item in ("" if notice.rank is None else notice.rank, notice.body)]
        head = (task_id, run, new_nonce(), int("status_message" in fields), len(fields))
        return Verdict(await self._client.call("report", *head, *pairs, *said))

    async def leave(self, worker: str, lost: Collection[str] = ()) -> None:
        """Ends a worker: what it still holds goes back, and costs no attempt.

        ``lost``: ids of tasks that must not be run again; they go the way of those of a lost worker.
        """
        await self._client.call("leave", worker, *lost)

    async def recover(self, limit: int = 100) -> dict[str, str]:
        """Takes expired leases away; returns what became of each task: requeued, failed or gone."""
        return _read_lost(await self._client.call("recover", self._lease, limit))

    async def sweep(self, limit: int = 500, worker_age: int = 86_400_000) -> dict[str, str]:
        """Clears up after up to ``limit`` expired tasks; returns the last status of each (``""`` = unknown)."""
        flat = await self._client.call("sweep", limit, worker_age)
        return {flat[i].decode(): flat[i + 1].decode() for i in range(0, len(flat), 2)}


def _read_lost(flat: Sequence[bytes]) -> dict[str, str]:
    """What became of each task whose lease ended, counted; ``flat`` has task id, verdict, kind and tool of each."""
    found = {}
    for i in range(0, len(flat), 4):
        task_id, verdict, kind, tool = (part.decode() for part in flat[i : i + 4])
        metrics.count_lost(kind, tool, verdict)
        found[task_id] = verdict
    return found
