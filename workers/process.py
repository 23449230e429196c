"""A worker as a process of its own."""

import asyncio
from collections.abc import Sequence

import uvloop

from receiver.receiver import Receiver
from receiver.settings import Settings
from receiver.telemetry.logs import configure_logs
from workers.worker import ReceiverWorker


def run_worker(app: Receiver, settings: Settings, *, lanes: Sequence[str] | None = None) -> int:
    """Runs a worker until SIGTERM or SIGINT; returns the exit code.  ``lanes``: those that it serves, None for all."""
    configure_logs(settings.log_format)
    asyncio.set_event_loop(uvloop.new_event_loop())
    ReceiverWorker(app=app, settings=settings, lanes=lanes).run()
    return 0
