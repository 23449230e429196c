"""``arq workers.settings.WorkerSettings``: a worker under arq's own command line.

Reads RECEIVER_APP, and RECEIVER_REDIS_URL with the other settings.  Importing this makes arq build ReceiverWorkers;
a stock Worker refuses these settings, since it would not honour leases.
"""

import asyncio
import sys
from typing import Any

import arq.worker
import uvloop
from receiver.loading import load_app

from receiver.protocol.errors import StartupError
from receiver.queue import deserialize, serialize
from receiver.receiver import Receiver
from receiver.settings import Settings, load_settings
from workers.worker import ReceiverWorker


def _load() -> tuple[Receiver, Settings]:
    settings = load_settings()
    if settings.app is None:
        raise StartupError("set RECEIVER_APP to the application, as module:attribute")
    return load_app(settings.app), settings


async def refuse_stock_worker(ctx: dict[Any, Any]) -> None:
    """What a stock Worker calls first; a ReceiverWorker never does."""
    raise SystemExit("receiver: a stock arq Worker can't serve this queue; import workers.settings before you make one")


class WorkerSettings:
    """The settings of ``arq workers.settings.WorkerSettings``."""

    functions = (refuse_stock_worker,)
    on_startup = refuse_stock_worker
    job_serializer = serialize
    job_deserializer = deserialize
    app: Receiver
    settings: Settings


try:
    WorkerSettings.app, WorkerSettings.settings = _load()
except StartupError as error:
    print(f"receiver: {error}", file=sys.stderr)
    sys.exit(2)
asyncio.set_event_loop(uvloop.new_event_loop())
arq.worker.Worker = ReceiverWorker  # type: ignore[assignment,misc] # arq's command line looks the class up here
