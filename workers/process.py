"""A worker as a process of its own."""

import asyncio
from collections.abc import Collection

import uvloop

from receiver.receiver import Receiver
from receiver.settings import Settings
from receiver.telemetry.logs import configure_logs
from workers.worker import ReceiverWorker


def run_worker(app: Receiver, settings: Settings, *, lanes: Collection[str] | None = None) -> int:
    """Runs a worker until SIGTERM or SIGINT; returns the exit code.  ``lanes``: those that it serves, None for all."""
    configure_logs(settings.log_format)
    loop = uvloop.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        ReceiverWorker(app=app, settings=settings, lanes=lanes).run()
    finally:
        loop.close()
    return 0
