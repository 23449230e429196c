"""The listener: hears that tasks of this worker were cancelled or answered, on whatever node."""

from collections.abc import Sequence

from redis.asyncio import Redis

from receiver.hub import Hub
from receiver.store.keys import Keys
from receiver.store.tasks import TaskStore
from workers.roster import Roster


async def keep_hearing(redis: Redis, keys: Keys, worker: str, tasks: TaskStore, roster: Roster) -> None:
    """Listens to the worker's channel, for ever; the heartbeat's answer finds what was missed."""
    hub = Hub(redis, keys.signals, _read_nothing)
    hub.start()
    try:
        async with hub.watch(worker) as watch:
            while True:
                await watch.wait()
                await _look(tasks, roster)
    finally:
        await hub.stop()


async def _look(tasks: TaskStore, roster: Roster) -> None:
    running = {run.claim.task_id: run for run in roster.runs()}
    statuses = await tasks.get_statuses(list(running)) if running else []
    for run, status in zip(running.values(), statuses, strict=True):
        if status == "cancelled":
            run.stop("cancelled")
        else:
            run.on_news()


async def _read_nothing(workers: Sequence[str]) -> list[str]:
    """A worker has no status that could change unheard."""
    return ["working"] * len(workers)
