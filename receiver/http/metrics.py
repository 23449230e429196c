"""``/metrics`` of an API node."""

from collections.abc import Iterator
from ipaddress import ip_address
from urllib.parse import urlsplit

from fastapi import APIRouter, HTTPException, Request, Response
from prometheus_client.metrics_core import Metric

from receiver.http.guards import join_headers
from receiver.http.origins import Origins
from receiver.http.refusal import Refusal
from receiver.store.gauges import GaugeStore
from receiver.store.inspect import Filter, Survey
from receiver.telemetry import instruments as of
from receiver.telemetry.exposition import CONTENT_TYPE, render


def metrics_routes(gauges: GaugeStore, origins: Origins) -> APIRouter:
    """The route.  No token is asked for, as Prometheus has none; what it says names nobody (T-97)."""
    router = APIRouter()

    @router.get("/metrics", summary="The metrics of this process, and of the store")
    async def metrics(request: Request) -> Response:
        _check_source(request, origins)
        found = await gauges.read()
        return Response(render(() if found is None else describe(found)), media_type=CONTENT_TYPE)

    return router


def describe(survey: Survey) -> Iterator[Metric]:
    """The survey as metrics."""
    queues = survey.queues
    yield of.ACTIVE.family(((status,), number) for status, number in survey.count(Filter()).items())
    yield of.QUEUE_SIZE.family(
        ((queue.name, state), getattr(queue, state)) for queue in queues for state in ("ready", "leased", "later")
    )
    yield of.QUEUE_OLDEST.family(((queue.name,), (queue.oldest or 0) / 1000) for queue in queues)
    yield of.WORKERS_UP.family(((queue.name,), queue.workers) for queue in queues)


def _check_source(request: Request, origins: Origins) -> None:
    """Pages of other sites are refused, and names that are not this node's (H-03).

    An address will always do where no page asks: that is how Prometheus finds what runs in Kubernetes, and no page can
    rebind it.
    """
    headers = join_headers(request.headers.raw)
    if b"origin" not in headers and _is_address(headers.get(b"host", b"")):
        return
    try:
        origins.check(headers)
    except Refusal as refusal:
        raise HTTPException(refusal.status, str(refusal)) from None


def _is_address(host: bytes) -> bool:
    try:
        ip_address(urlsplit(f"//{host.decode('latin-1')}").hostname or "")
    except ValueError:
        return False
    return True
