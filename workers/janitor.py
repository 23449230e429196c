"""The janitor: clears the indexes of tasks and sessions that ended, and forgets workers that are long gone."""

import asyncio

import structlog

from receiver.store.census import Census
from receiver.store.runs import RunStore
from receiver.telemetry import metrics

BATCH = 500
INTERVAL_SECONDS = 1.0
SESSIONS_INTERVAL_SECONDS = 10.0  # nothing but what operators see waits for it

log = structlog.get_logger(__name__)


async def keep_sweeping(runs: RunStore, interval: float = INTERVAL_SECONDS) -> None:
    """Sweeps every ``interval`` seconds, for ever.  Any number of workers may do so."""
    while True:
        swept = await runs.sweep(BATCH)
        for task_id, status in swept.items():
            metrics.count_expired(status)
            if status in ("working", "input_required"):
                log.warning("task_expired", task_id=task_id, status=status)
        if len(swept) < BATCH:
            await asyncio.sleep(interval)


async def keep_sweeping_sessions(census: Census, interval: float = SESSIONS_INTERVAL_SECONDS) -> None:
    """Likewise for the sessions that operators see."""
    while True:
        if await census.sweep_sessions(BATCH) < BATCH:
            await asyncio.sleep(interval)
