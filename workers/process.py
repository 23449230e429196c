"""A worker as a process of its own."""

import asyncio
import logging
import os
import threading
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor

import structlog
import uvloop

from receiver.receiver import Receiver
from receiver.settings import Settings
from receiver.telemetry.logs import configure_logs
from receiver.telemetry.provider import close_tracing
from workers.worker import ReceiverWorker

EXECUTOR = "executor"
JOIN_SECONDS = 1.0

log = structlog.get_logger(__name__)


def run_worker(app: Receiver, settings: Settings, *, lanes: Collection[str] | None = None) -> int:
    """Runs a worker until SIGTERM or SIGINT; returns the exit code.  ``lanes``: those that it serves, None for all."""
    configure_logs(settings.log_format, settings.log_level)
    loop = uvloop.new_event_loop()
    asyncio.set_event_loop(loop)
    executor = ThreadPoolExecutor(max(32, settings.worker_concurrency), thread_name_prefix=EXECUTOR)
    loop.set_default_executor(executor)
    code = 0
    try:
        ReceiverWorker(app=app, settings=settings, lanes=lanes).run()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    executor.shutdown(wait=False, cancel_futures=True)
    if _goes_on():
        log.warning("threads_left_behind")
        close_tracing()
        logging.shutdown()
        os._exit(code)  # Python would wait for them, as long as they take
    loop.close()
    return code


def _goes_on() -> bool:
    """Whether threads of the executor, where async tools call what blocks, don't end."""
    threads = [thread for thread in threading.enumerate() if thread.name.startswith(EXECUTOR)]
    for thread in threads:
        thread.join(JOIN_SECONDS)
    return any(thread.is_alive() for thread in threads)
