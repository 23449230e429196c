"""The listener: hears that tasks of this worker were cancelled or answered, on whatever node."""

from collections.abc import Sequence

from redis.asyncio import Redis

from receiver.hub import Hub
from receiver.store.keys import Keys
from receiver.store.tasks import TaskStore
from workers.roster import ActiveRun, Roster


async def keep_hearing(redis: Redis, keys: Keys, worker: str, tasks: TaskStore, roster: Roster) -> None:
    """Listens to the worker's channel, for ever; the heartbeat's answer finds what was missed."""
    hub = Hub(redis, keys.signals, _read_nothing)
    hub.start()
    try:
        async with hub.watch(worker) as watch:
            while True:
                heard = await watch.wait()
                runs = roster.runs() if "" in heard else [run for run in map(roster.find, heard) if run is not None]
                await _look(tasks, runs)
    finally:
        await hub.stop()


async def _look(tasks: TaskStore, runs: Sequence[ActiveRun]) -> None:
    statuses = await tasks.get_statuses([run.claim.task_id for run in runs]) if runs else []
    for run, status in zip(runs, statuses, strict=True):
        if status == "cancelled":
            run.stop("cancelled")
        else:
            run.on_news()


async def _read_nothing(workers: Sequence[str]) -> list[str]:
    """A worker has no status that could change unheard."""
    return ["working"] * len(workers)
