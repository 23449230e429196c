"""What requestors do with tasks.  Each method is one script, and so one round trip."""

import secrets
from dataclasses import dataclass, field

from receiver.protocol.cursor import Position
from receiver.protocol.errors import Refused, TaskAlreadyFinished, TaskNotFound
from receiver.protocol.task import Task
from receiver.protocol.task_id import is_task_id
from receiver.store.admission import ANY_RATE, Admission, RateLimit
from receiver.store.client import Client
from receiver.store.record import (
    OUTCOME_FIELDS,
    SCHEMA,
    TASK_FIELDS,
    Kind,
    Progress,
    to_progress,
    to_task,
)
from receiver.store.scripts import Argument
from receiver.telemetry import metrics


def new_nonce() -> str:
    """A mark of one logical call: the same call sent again is known by it."""
    return secrets.token_hex(8)


@dataclass(frozen=True, slots=True)
class NewTask:
    """A task, or a plain call, to be created.  ``ttl`` in ms; ``job``: arq's payload; ``fields``: of the record."""

    id: str
    owner: str
    queue: str
    kind: Kind
    ttl: int
    job: bytes
    fields: dict[str, Argument] = field(default_factory=dict)

    @property
    def params(self) -> bytes:
        """The arguments as they are stored."""
        params = self.fields.get("params", b"")
        return params if isinstance(params, bytes) else str(params).encode()


class TaskStore:
    """The tasks of all owners.  Ids are checked here, before any key is built of them.

    ``misses`` bounds look-ups that find nothing; those that find something are never refused for it.
    """

    def __init__(self, client: Client, *, task_limit: int, queue_limit: int, misses: RateLimit = ANY_RATE) -> None:
        self._client = client
        self._misses = misses
        self._task_limit = task_limit
        self._queue_limit = queue_limit

    async def create(self, admission: Admission, new: NewTask) -> int:
        """Creates the record and its job; returns created_at.  Raises Refused when a limit is reached."""
        fields = [item for pair in new.fields.items() for item in pair]
        limits = (self._task_limit, self._queue_limit)
        head = (new.id, new.owner, new.queue, new.kind, new.ttl, *limits, new.job, new.fields.get("tool", ""))
        code, number = await self._client.admit(admission, "create", *head, "schema", SCHEMA, *fields)
        if code == -1:
            raise Refused("too_many_tasks", f"{number} unfinished tasks are the limit; wait for some to finish")
        if code == -2:
            raise Refused("queue_full", "Too many tasks are waiting to be run; try again later")
        return int(number)

    async def get(self, admission: Admission, task_id: object) -> Task:
        """The task as its owner sees it; TaskNotFound for everyone and everything else (T-76, T-89)."""
        known = await self._check_id(admission, task_id)
        _, *values = await self._client.admit(admission, "read", known, admission.owner, "task", *TASK_FIELDS)
        if not values:
            raise await self._find_nothing(admission)
        return to_task(known, values[0][2:])

    async def get_progress(self, admission: Admission, task_id: object) -> Progress:
        """How far the task is, with its outcome if there is one.  Raises TaskNotFound."""
        head = (await self._check_id(admission, task_id), admission.owner, "task")
        now, *values = await self._client.admit(admission, "read", *head, *OUTCOME_FIELDS)
        if not values:
            raise await self._find_nothing(admission)
        return to_progress(now, values[0][2:])

    async def cancel(self, admission: Admission, task_id: object, message: str) -> Task:
        """Cancels the task and returns it.  Raises TaskNotFound, TaskAlreadyFinished (T-67)."""
        known = await self._check_id(admission, task_id)
        head = (known, admission.owner, new_nonce(), message)
        code, *rest = await self._client.admit(admission, "cancel", *head, *TASK_FIELDS, "tool", "run", "worker")
        if code == -1:
            raise await self._find_nothing(admission)
        if code == -3:
            metrics.count_rejected(rest[0].decode(), "cancelled")
            raise TaskAlreadyFinished(rest[0].decode())
        *values, tool, run, worker = rest[0]
        metrics.count_cancelled((tool or b"").decode(), _phase(run, worker))
        return to_task(known, values)

    async def list_page(
        self, admission: Admission, size: int, after: Position | None
    ) -> tuple[list[Task], Position | None]:
        """Up to ``size`` tasks of the owner, newest first, and the position of the next page if there is one."""
        start: tuple[Argument, Argument] = ("+inf", "") if after is None else (after.created_at, after.task_id)
        head = (admission.owner, size, *start)
        more, entries = await self._client.admit(admission, "page", *head, *TASK_FIELDS)
        while more == -1:
            more, entries = await self._client.call("page", *head, *TASK_FIELDS)
        tasks = [to_task(task_id.decode(), values) for task_id, values in entries]
        return tasks, Position(tasks[-1].created_at, tasks[-1].id) if more else None

    async def get_statuses(self, task_ids: list[str]) -> list[str]:
        """The status of each id, ``""`` for one that is gone: for waiters, whatever the owner."""
        return [status.decode() for status in await self._client.call("statuses", *task_ids)]

    async def _check_id(self, admission: Admission, task_id: object) -> str:
        if is_task_id(task_id):
            return task_id
        raise await self._find_nothing(admission)

    async def _find_nothing(self, admission: Admission) -> Exception:
        """What is answered where no such task is found: one text for all (T-76, T-89), until it is too often."""
        metrics.count_miss()
        if self._misses.count:
            misses, rest = await self._client.call("count_miss", admission.requestor, self._misses.window)
            if misses > self._misses.count:
                return Refused("rate_limited", "Too many tasks that don't exist were asked for", retry_after_ms=rest)
        return TaskNotFound()


def _phase(run: bytes | None, worker: bytes | None) -> str:
    """How far a task came: nobody has run it yet, a worker has it, or it waits to be run again."""
    if run == b"0":
        return "queued"
    return "running" if worker else "paused"
