"""How metrics are read: as a page of the API node, or on a port of the worker's own.

The page holds no task, no session and no requestor, but names tools and queues and tells how busy they are: keep it
inside.
"""

from collections.abc import Iterable, Iterator
from threading import Thread
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from receiver.protocol.errors import StartupError
from receiver.telemetry.instruments import REGISTRY

__all__ = ["CONTENT_TYPE", "MetricsServer", "render"]

ProcessCollector(registry=REGISTRY)


class _Page(Collector):
    """All of this process, and ``more``; without the time at which each series began, which would double them."""

    def __init__(self, more: Iterable[Metric] = ()) -> None:
        self._more = more

    def collect(self) -> Iterator[Metric]:
        for metric in (*REGISTRY.collect(), *self._more):
            metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
            yield metric


def render(more: Iterable[Metric] = ()) -> bytes:
    """The metrics of this process, and ``more``, in Prometheus's text format 0.0.4."""
    return generate_latest(_Page(more))


class MetricsServer:
    """Serves ``/metrics`` on ``port``, from a thread.  Raises StartupError if the port can't be had."""

    def __init__(self, port: int) -> None:
        registry = CollectorRegistry()
        registry.register(_Page())
        self._server: WSGIServer
        self._thread: Thread
        try:
            self._server, self._thread = start_http_server(port, registry=registry)
        except OSError as error:
            raise StartupError(f"RECEIVER_METRICS_PORT: can't listen on port {port}: {error.strerror}") from None

    def close(self) -> None:
        """Ends it; waits for that up to half a second."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
