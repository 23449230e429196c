"""Spans: of a request, of a task on its way to a worker, and of a run.

They follow OpenTelemetry's semantic conventions for MCP and for messaging; docs/how-to/trace.md shows them.  A span
says what was done and how it ended, never an argument, a result, a message of an error or an id of a session.
Without a provider there are none, and what a client said of its trace is passed on all the same.
"""

import traceback
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext

from opentelemetry.context import Context, attach, detach
from opentelemetry.trace import (
    INVALID_SPAN,
    Link,
    NonRecordingSpan,
    ProxyTracerProvider,
    Span,
    SpanContext,
    SpanKind,
    StatusCode,
    get_current_span,
    get_tracer_provider,
    set_span_in_context,
)
from opentelemetry.util.types import Attributes, AttributeValue

from receiver.protocol.errors import ReceiverError
from receiver.telemetry.target import Target
from receiver.telemetry.traceparent import read_trace, recall_trace, write_trace

# It asks for the provider at the first span, and not before: who mounts the app may set one later.
TRACER = ProxyTracerProvider().get_tracer("mcp-task-receiver")

ID_LENGTH = 64  # of a request's id, which a client makes up
FRAMES = 20

_SERVER = {"network.protocol.name": "http", "network.transport": "tcp"}
_NO_SPAN, _NO_TRACE = nullcontext(INVALID_SPAN), nullcontext("")


def serving(
    target: Target, request_id: str | int, params: Mapping[str, object] | None, headers: Mapping[bytes, bytes]
) -> AbstractContextManager[Span]:
    """The span of a request, current in the block.

    Its parent is what the client says in ``params._meta`` (SEP-414), and what HTTP brought is linked; where the client
    says nothing, that is the parent.
    """
    meta = (params or {}).get("_meta")
    if not isinstance(meta, dict):
        meta = {}
    if not (_has_provider() or b"traceparent" in headers or "traceparent" in meta):
        return _NO_SPAN
    return _serving(target, request_id, meta, headers)


@contextmanager
def _serving(
    target: Target, request_id: str | int, meta: Mapping[str, object], headers: Mapping[bytes, bytes]
) -> Iterator[Span]:
    said = read_trace(meta.get("traceparent"), meta.get("tracestate"))
    around = get_current_span().get_span_context()
    if not around.is_valid and b"traceparent" in headers:
        around = read_trace(*(headers.get(name, b"").decode("latin-1") for name in (b"traceparent", b"tracestate")))
    parent, links = around, []
    if said.is_valid:
        parent, links = said, [Link(around)] if around.is_valid else []
    attributes = {**target.attributes, **_SERVER, "jsonrpc.request.id": str(request_id)[:ID_LENGTH]}
    with _current(target.title, SpanKind.SERVER, parent, attributes, links) as span:
        yield span


def enqueueing(target: Target, task_id: str, queue: str) -> AbstractContextManager[str]:
    """The span of a task's creation, in that of its request; gives what the worker is to know, ``""`` for nothing."""
    around = get_current_span().get_span_context()
    return _enqueueing(target, task_id, queue, around) if around.is_valid else _NO_TRACE


@contextmanager
def _enqueueing(target: Target, task_id: str, queue: str, around: SpanContext) -> Iterator[str]:
    attributes = {**target.attributes, **_messaging("send", "enqueue", task_id, queue)}
    with _current(f"enqueue {target.noun}", SpanKind.PRODUCER, around, attributes) as span:
        yield write_trace(span.get_span_context())


def running(
    target: Target, trace: str, task_id: str, queue: str, *, run: int, attempt: int, worker: str
) -> AbstractContextManager[Span]:
    """The span of a run, current in the block, in the trace that its task was created in."""
    if not (_has_provider() or trace):
        return _NO_SPAN
    return _running(target, trace, task_id, queue, run=run, attempt=attempt, worker=worker)


@contextmanager
def _running(
    target: Target, trace: str, task_id: str, queue: str, *, run: int, attempt: int, worker: str
) -> Iterator[Span]:
    attributes: dict[str, AttributeValue] = {
        **target.attributes,
        **_messaging("process", "run", task_id, queue),
        "mcp_tasks.run": run,
        "mcp_tasks.attempt": attempt,
        "mcp_tasks.worker": worker,
    }
    with _current(f"run {target.noun}", SpanKind.CONSUMER, recall_trace(trace), attributes) as span:
        yield span


@contextmanager
def continuing(trace: str) -> Iterator[Span]:
    """What a run does in another process belongs to its span there, too."""
    span = NonRecordingSpan(recall_trace(trace))
    with _attached(span):
        yield span


def current_trace() -> str:
    """The span that is current here, for ``continuing`` elsewhere."""
    return write_trace(get_current_span().get_span_context())


def name_trace(span: Span) -> dict[str, str]:
    """The ``trace_id`` of log lines, if there is a trace."""
    context = span.get_span_context()
    return {"trace_id": f"{context.trace_id:032x}"} if context.is_valid else {}


def link(trace: str) -> None:
    """Links the current request to a task that it is about, but did not create."""
    context = recall_trace(trace)
    if context.is_valid:
        get_current_span().add_link(context)


def fail(span: Span, error_type: str) -> None:
    """Marks a span as failed.  A type that is a number is a code of JSON-RPC.  What its message says may be secret."""
    if span.is_recording():
        span.set_attribute("error.type", error_type)
        if error_type.lstrip("-").isdigit():
            span.set_attribute("rpc.response.status_code", error_type)
        span.set_status(StatusCode.ERROR)


def record_exception(span: Span, error: BaseException) -> None:
    """What was raised, and where; not what it says."""
    if span.is_recording():
        kind = type(error)
        stack = "".join(traceback.format_tb(error.__traceback__, -FRAMES))
        name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        span.add_event("exception", {"exception.type": name, "exception.stacktrace": stack})


def _has_provider() -> bool:
    return not isinstance(get_tracer_provider(), ProxyTracerProvider)


def _messaging(kind: str, operation: str, task_id: str, queue: str) -> dict[str, str]:
    return {
        "messaging.system": "arq",
        "messaging.operation.type": kind,
        "messaging.operation.name": operation,
        "messaging.destination.name": queue,
        "messaging.message.id": task_id,
    }


@contextmanager
def _current(
    name: str, kind: SpanKind, parent: SpanContext, attributes: Attributes, links: list[Link] | None = None
) -> Iterator[Span]:
    """A span that is current in the block; whatever is raised there marks it."""
    context = set_span_in_context(NonRecordingSpan(parent)) if parent.is_valid else Context()
    span = TRACER.start_span(name, context, kind, attributes, links)
    if not span.get_span_context().is_valid:  # there is no provider
        yield span
        return
    with _attached(span):
        try:
            yield span
        except BaseException as error:
            fail(span, str(error.code) if isinstance(error, ReceiverError) else type(error).__name__)
            raise
        finally:
            span.end()


@contextmanager
def _attached(span: Span) -> Iterator[None]:
    if not span.get_span_context().is_valid:
        yield
        return
    token = attach(set_span_in_context(span))
    try:
        yield
    finally:
        detach(token)
