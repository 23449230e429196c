"""Waits until a task is over, wherever its work is done."""

import asyncio

from receiver.hub import Hub, Watch
from receiver.protocol.errors import TaskExpired, TaskNotFound
from receiver.protocol.lifecycle import is_terminal
from receiver.store.record import Kind, Progress
from receiver.store.tasks import NewTask, TaskStore


class Waiter:
    """Waits for tasks of ``tasks``; while the store is away it goes on waiting, until the task's own ttl ends (X-6)."""

    def __init__(self, hub: Hub, tasks: TaskStore) -> None:
        self._hub = hub
        self._tasks = tasks
        self._patient = tasks.with_patience(None)

    async def wait_until_terminal(self, task_id: str, owner: str, remaining: int) -> Progress:
        """The terminal state of a task that exists and expires in ``remaining`` ms.  Raises TaskExpired."""
        try:
            async with asyncio.timeout(remaining / 1000), self._hub.watch(task_id) as watch:
                return await self._follow(watch, task_id, owner, "task")
        except (TimeoutError, TaskNotFound):
            raise TaskExpired from None

    async def call_and_wait(self, new: NewTask) -> Progress:
        """Creates a plain call, and gives its terminal state.  Raises what create raises, and TaskExpired."""
        try:
            async with asyncio.timeout(new.ttl / 1000), self._hub.watch(new.id) as watch:
                await self._tasks.create(new)
                await watch.wait()
                return await self._follow(watch, new.id, new.owner, "call")
        except (TimeoutError, TaskNotFound):
            raise TaskExpired from None

    async def _follow(self, watch: Watch, task_id: str, owner: str, kind: Kind) -> Progress:
        while True:  # subscribed first, read now: what changes after this read rings
            progress = await self._patient.get_progress(task_id, owner, kind)
            if is_terminal(progress.status):
                return progress
            await watch.wait()
