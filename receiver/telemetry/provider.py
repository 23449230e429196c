"""Sets up OpenTelemetry's SDK in a process of ours: where it is installed, and its own variables ask for it.

A process that has a provider keeps it: an app that set one knew why, and so does whoever mounts the app.
"""

import os
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import structlog
from opentelemetry import trace

from receiver.protocol.errors import StartupError

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource

_ASKING = ("OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = {"http/protobuf": "otlp_proto_http", "grpc": "otlp_proto_grpc"}

log = structlog.get_logger(__name__)


def open_tracing(service: str) -> None:
    """Sends spans where ``OTEL_*`` variables say, as ``service`` unless they name it.

    Raises StartupError for an exporter that is not installed.  A missing SDK is a warning: such variables are often
    set for all processes of a machine.
    """
    exporters = _wanted_exporters()
    if not exporters or not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return
    if find_spec("opentelemetry.sdk") is None:
        log.warning("no_traces", detail="OTEL_* variables ask for traces: install mcp-task-receiver[otel]")
        return
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=_name_service(service))
    for name in exporters:
        provider.add_span_processor(BatchSpanProcessor(_load_exporter(name)()))
    trace.set_tracer_provider(provider)


def close_tracing() -> None:
    """Sends what is left.  A process that ends in an orderly way does so by itself."""
    provider = trace.get_tracer_provider()
    if callable(shutdown := getattr(provider, "shutdown", None)):
        shutdown()


def _wanted_exporters() -> list[str]:
    """Their names; none unless a variable asks for some."""
    asked = [value for name in _ASKING if (value := os.environ.get(name, "").strip())]
    if not asked or os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return []
    names = [name.strip() for name in (os.environ.get("OTEL_TRACES_EXPORTER", "").strip() or "otlp").split(",")]
    return [name for name in names if name and name != "none"]


def _load_exporter(name: str) -> Any:
    if name == "otlp":
        protocol = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL")
        name = _PROTOCOLS.get(protocol or "http/protobuf", str(protocol))
    found = next(iter(entry_points(group="opentelemetry_traces_exporter", name=name)), None)
    if found is None:
        raise StartupError(f"OTEL_* variables ask for the exporter {name!r}, which is not installed")
    return found.load()


def _name_service(service: str) -> "Resource":
    from opentelemetry.sdk.resources import Resource

    found = Resource.create()
    is_named = not str(found.attributes.get("service.name", "")).startswith("unknown_service")
    return found if is_named else found.merge(Resource({"service.name": service}))
