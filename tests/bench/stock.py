"""What the worker is held against: stock arq, with the same task to do.

``python -m tests.bench.stock`` is its worker; ``Stock`` says with which settings.
"""

import json
import logging
import os
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any

import uvloop
from arq.connections import ArqRedis, RedisSettings
from arq.worker import Worker, func

from tests.processes import Child

READY = "stock worker is ready"


@dataclass(frozen=True)
class Stock:
    """The settings of arq, which has these defaults, and whether it has uvloop, which its own command line has not."""

    max_jobs: int = 10
    poll_delay: float = 0.5
    queue_read_limit: int | None = None
    keep_result: float = 3600
    with_uvloop: bool = False

    @property
    def text(self) -> str:
        """What was set, for people."""
        given = [f"{name}={value}" for name, value in asdict(self).items() if value != getattr(Stock, name)]
        return ", ".join(given)

    def start(self, url: str) -> Child:
        """A worker that takes jobs."""
        settings = json.dumps({"url": url, **asdict(self)})
        worker = Child([sys.executable, "-m", "tests.bench.stock"], env={"BENCH_STOCK": settings})
        worker.wait_for_log(READY)
        return worker


# Of max_jobs 10 to 1000, poll_delay 0.001 to 0.5 and queue_read_limit 100 to 5000, on a full queue, by CPU and by rate.
FASTEST = Stock(max_jobs=100, poll_delay=0.01, queue_read_limit=1000, keep_result=0, with_uvloop=True)


async def instant(ctx: dict[Any, Any], text: str) -> str:
    """Returns its text."""
    return text


async def clock(ctx: dict[Any, Any]) -> str:
    """Returns the time at which it was called, in nanoseconds."""
    return str(time.time_ns())


async def fill(redis: ArqRedis, count: int) -> None:
    """Enqueues so many jobs."""
    for _ in range(count):
        await redis.enqueue_job("instant", "hello")


def main() -> None:
    """The worker."""
    settings = json.loads(os.environ["BENCH_STOCK"])
    logging.basicConfig(level=logging.WARNING)
    if settings.pop("with_uvloop"):
        uvloop.install()

    async def tell(ctx: dict[Any, Any]) -> None:
        print(READY, flush=True)

    url = RedisSettings.from_dsn(settings.pop("url"))
    Worker([func(instant), func(clock)], redis_settings=url, on_startup=tell, **settings).run()


if __name__ == "__main__":
    main()
