"""What requestors do with tasks.  Each method is one script, and so one round trip."""

import secrets
from dataclasses import dataclass, field

from receiver.protocol.cursor import Position
from receiver.protocol.errors import Refused, TaskAlreadyFinished, TaskNotFound
from receiver.protocol.task import Task
from receiver.protocol.task_id import is_task_id
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


class TaskStore:
    """The tasks of all owners.  Ids are checked here, before any key is built of them."""

    def __init__(self, client: Client, *, task_limit: int, queue_limit: int) -> None:
        self._client = client
        self._task_limit = task_limit
        self._queue_limit = queue_limit

    def with_patience(self, patience: float | None) -> "TaskStore":
        """The same tasks for a caller of another patience, in seconds; None for one that waits for ever."""
        client = self._client.with_patience(patience)
        return TaskStore(client, task_limit=self._task_limit, queue_limit=self._queue_limit)

    async def create(self, new: NewTask) -> int:
        """Creates the record and its job; returns created_at.  Raises Refused when a limit is reached."""
        fields = [item for pair in new.fields.items() for item in pair]
        head = (new.id, new.owner, new.queue, new.kind, new.ttl, self._task_limit, self._queue_limit)
        code, number = await self._client.call("create", *head, new.job, "schema", SCHEMA, *fields)
        if code == -1:
            raise Refused("too_many_tasks", f"{number} unfinished tasks are the limit; wait for some to finish")
        if code == -2:
            raise Refused("queue_full", "Too many tasks are waiting to be run; try again later")
        return int(number)

    async def get(self, task_id: object, owner: str) -> Task:
        """The task as its owner sees it; TaskNotFound for everyone and everything else (T-76, T-89)."""
        known = _check_id(task_id)
        _, *values = await self._client.call("read", known, owner, "task", *TASK_FIELDS)
        if not values:
            raise TaskNotFound
        return to_task(known, values[0])

    async def get_progress(self, task_id: object, owner: str, kind: Kind = "task") -> Progress:
        """How far the task is, with its outcome if there is one.  Raises TaskNotFound."""
        now, *values = await self._client.call("read", _check_id(task_id), owner, kind, *OUTCOME_FIELDS)
        if not values:
            raise TaskNotFound
        return to_progress(now, values[0])

    async def cancel(self, task_id: object, owner: str, message: str) -> Task:
        """Cancels the task and returns it.  Raises TaskNotFound, TaskAlreadyFinished (T-67)."""
        known = _check_id(task_id)
        code, *rest = await self._client.call("cancel", known, owner, new_nonce(), message, *TASK_FIELDS)
        if code == -1:
            raise TaskNotFound
        if code == -3:
            raise TaskAlreadyFinished(rest[0].decode())
        return to_task(known, rest[0])

    async def list_page(self, owner: str, size: int, after: Position | None) -> tuple[list[Task], Position | None]:
        """Up to ``size`` tasks of the owner, newest first, and the position of the next page if there is one."""
        start: tuple[Argument, Argument] = ("+inf", "") if after is None else (after.created_at, after.task_id)
        more, entries = await self._client.call("page", owner, size, *start, *TASK_FIELDS)
        tasks = [to_task(task_id.decode(), values) for task_id, values in entries]
        return tasks, Position(tasks[-1].created_at, tasks[-1].id) if more else None

    async def get_statuses(self, task_ids: list[str]) -> list[str]:
        """The status of each id, ``""`` for one that is gone: for waiters, whatever the owner."""
        return [status.decode() for status in await self._client.call("statuses", *task_ids)]


def _check_id(task_id: object) -> str:
    if isinstance(task_id, str) and is_task_id(task_id):
        return task_id
    raise TaskNotFound
