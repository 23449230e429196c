"""``arq workers.settings.WorkerSettings``: a worker under arq's own command line.

Reads RECEIVER_APP, and RECEIVER_REDIS_URL with the other settings.  Importing this makes arq build ReceiverWorkers;
a stock Worker refuses these settings, since it would not honour leases.
"""

import asyncio
import sys
from collections.abc import Iterator

import arq.worker
import uvloop

from receiver.loading import load_app
from receiver.protocol.errors import StartupError
from receiver.receiver import Receiver
from receiver.settings import Settings, load_settings
from receiver.telemetry.logs import configure_logs
from receiver.telemetry.provider import open_tracing
from workers.equipment import Equipment
from workers.worker import ReceiverWorker


class _Refusal:
    """The functions of these settings: a stock Worker asks for them first, a ReceiverWorker never does."""

    def __iter__(self) -> Iterator[object]:
        raise SystemExit("receiver: a stock arq Worker can't serve this queue, as it would not honour leases")


class WorkerSettings:
    """The settings of ``arq workers.settings.WorkerSettings``."""

    functions = _Refusal()
    app: Receiver
    settings: Settings
    equipment: Equipment


def _load() -> None:
    settings = load_settings()
    configure_logs(settings.log_format, settings.log_level)
    if settings.app is None:
        raise StartupError("set RECEIVER_APP to the application, as MODULE:attribute")
    WorkerSettings.settings = settings
    WorkerSettings.equipment = Equipment.connect(settings)
    WorkerSettings.app = load_app(settings.app)
    open_tracing(WorkerSettings.app.name)


try:
    _load()
except StartupError as error:
    print(f"receiver: {error}", file=sys.stderr)
    sys.exit(2)
asyncio.set_event_loop(uvloop.new_event_loop())
arq.worker.Worker = ReceiverWorker  # type: ignore[assignment,misc] # arq's command line looks the class up here
