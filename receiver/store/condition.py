"""Whether the store can take new tasks just now, asked the way that requests go: by a script that might write."""

import asyncio
from typing import NoReturn

import structlog
from redis.asyncio import Redis
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    NoPermissionError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)

from receiver.settings import Durability
from receiver.store.checks import find_careless, read_manners
from receiver.store.pool import note_failure

ANSWER_SECONDS = 2.0
INSPECT_SECONDS = 15.0
FULL = 0.9  # of maxmemory: red before creation is refused (F30)

PROBE = "#!lua flags=allow-oom\nreturn 1"  # refused where our scripts are: on a replica, after a failed write
_FAULTS = {
    "BUSY ": "the store is busy with a script",
    "MISCONF ": "the store can't write to its disk",
    "NOREPLICAS ": "the store has too few replicas to take writes",
}

log = structlog.get_logger(__name__)


async def find_fault(redis: Redis, durability: Durability | None = None) -> str | None:
    """Why the store can't serve, or will refuse new tasks soon; None if all is well."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await redis.execute_command("EVAL", PROBE, 0)
            manners = await read_manners(redis)
    except (RedisError, OSError, TimeoutError) as error:
        note_failure(redis, error)
        return describe(error)
    if manners.most and manners.used > FULL * manners.most:
        return f"the store is full: {100 * manners.used // manners.most} % of its maxmemory are used"
    return find_careless(manners, durability)


def describe(error: Exception) -> str:
    """What an error says of the store, without what it may tell of our network."""
    text = str(error)
    if isinstance(error, BusyLoadingError):
        return "the store is loading its data"
    if isinstance(error, ReadOnlyError):
        return "the store is a replica and takes no writes"
    if isinstance(error, AuthenticationError | NoPermissionError):
        return "the store refuses the credentials"
    if isinstance(error, ResponseError):
        found = next((fault for prefix, fault in _FAULTS.items() if text.startswith(prefix)), None)
        return found or f"the store refuses a script ({text.partition(' ')[0]})"
    return f"the store does not answer ({type(error).__name__})"


async def keep_inspecting(redis: Redis, durability: Durability | None) -> NoReturn:
    """Looks again and again, for ever: what was right at start may be changed (F29).  Each change is logged."""
    known: str | None = None
    while True:
        await asyncio.sleep(INSPECT_SECONDS)
        fault = await find_fault(redis, durability)
        if fault is not None and fault != known:
            log.warning("store_fault", detail=fault)
        elif fault is None and known is not None:
            log.info("store_well")
        known = fault
