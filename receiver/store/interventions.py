"""What operators do to tasks of any owner: cancel, purge, run again.  Requestors' own calls stand in ``tasks``."""

from collections.abc import Sequence
from typing import Any, Literal, cast

from receiver.protocol.task_id import is_task_id
from receiver.store.admission import ANY_RATE, Admission
from receiver.store.client import Client
from receiver.store.inspect import Dossier
from receiver.store.tasks import NewTask, TaskStore, new_nonce
from receiver.telemetry.audit import Caller

Purged = Literal["purged", "unfinished", "call", "gone"]
Cancelled = Literal["cancelled", "finished", "call", "gone"]

# What the record of a task that is run again has of the old one: what it runs, for whom, and how.
COPIED = (
    "tool",
    "method",
    "params",
    "protocol",
    "principal",
    "poll_interval",
    "max_attempts",
    "timeout",
    "capabilities",
)
UNLIMITED = 2**31


class Interventions:
    """Acts for operators, in the name of a caller: what is done stands in the audit trail, by the step that does it.

    Every act may be sent twice.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._tasks = TaskStore(client, task_limit=UNLIMITED, queue_limit=UNLIMITED)

    async def cancel(self, task_id: str, message: str, caller: Caller) -> Cancelled:
        """Cancels a task for its owner, who is told by ``message`` in its status."""
        if not is_task_id(task_id):
            return "gone"
        owner, kind = await self._read_identity(task_id)
        if owner is None:
            return "gone"
        if kind != b"task":
            return "call"
        head = (task_id, owner, new_nonce(), message)
        code, *_ = await self._client.admit(_admit(owner.decode(), caller), "cancel", *head, "status")
        return cast(Cancelled, {1: "cancelled", -3: "finished", -1: "gone"}[code])

    async def purge(self, task_ids: Sequence[str], caller: Caller) -> dict[str, Purged]:
        """Removes finished tasks, whose requestors then get "not found"; says of each what came of it."""
        known = [task_id for task_id in task_ids if is_task_id(task_id)]
        flat = await self._client.call("purge", caller.to_note(), *known) if known else []
        verdicts = {flat[i].decode(): flat[i + 1].decode() for i in range(0, len(flat), 2)}
        return {task_id: verdicts.get(task_id, "gone") for task_id in task_ids}

    async def repeat(self, dossier: Dossier, new_id: str, job: bytes, caller: Caller) -> None:
        """Creates a task that runs what another one ran, for the same owner and as long; the old one stays as it is.

        It belongs to no session, and reports to no progress token: its requestor sees it in ``tasks/list`` alone.
        """
        record = dossier.record
        owner = record["owner"].decode()
        fields = {name: record[name] for name in COPIED if name in record}
        queue, ttl = record["queue"].decode(), int(record["ttl"])
        new = NewTask(new_id, owner, queue, "task", ttl, job, {**fields, "retry_of": dossier.id})
        await self._tasks.create(_admit(owner, caller), new)
        await self._client.call("link_retry", dossier.id, new_id, caller.to_note())

    async def _read_identity(self, task_id: str) -> tuple[bytes | None, bytes | None]:
        """Owner and kind, which never change."""
        found: Any = self._client.redis.hmget(self._client.keys.task(task_id), ["owner", "kind"])
        owner, kind = await found
        return owner, kind


def _admit(owner: str, caller: Caller) -> Admission:
    """An operator's call is for the owner of the task, and never one too many."""
    return Admission(owner, "", owner, caller.operation, 0, ANY_RATE, caller)
