"""The recoverer: takes tasks away from workers that no longer renew their leases."""

import asyncio

import structlog

from receiver.store.runs import RunStore

BATCH = 100

log = structlog.get_logger(__name__)


async def keep_recovering(runs: RunStore, interval: float) -> None:
    """Looks every ``interval`` seconds, for ever.  Any number of workers may do so."""
    while True:
        found = await runs.recover(BATCH)
        for task_id, verdict in found.items():
            log.warning("worker_lost", task_id=task_id, verdict=verdict)
        if len(found) < BATCH:
            await asyncio.sleep(interval)
