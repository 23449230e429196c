"""The metrics of a worker, on a port of its own."""

import asyncio
from contextlib import AsyncExitStack

from receiver import __version__
from receiver.receiver import Receiver
from receiver.telemetry import metrics
from receiver.telemetry.exposition import MetricsServer


def expose_metrics(app: Receiver, port: int | None, stack: AsyncExitStack) -> None:
    """Serves them until the stack ends, unless ``port`` is None.  Raises StartupError for a port that is taken."""
    metrics.introduce(__version__, (tool.name for tool in app.tools))
    if port is not None:
        stack.push_async_callback(asyncio.to_thread, MetricsServer(port).close)
