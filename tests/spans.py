"""The spans of this process, kept in memory.  A process has one provider for all its tests, and for all its life."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


class Spans:
    """What was recorded since it was last cleared."""

    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    @property
    def all(self) -> Sequence[ReadableSpan]:
        """Those that have ended."""
        return self._exporter.get_finished_spans()

    def named(self, name: str) -> list[ReadableSpan]:
        """Those of one name, in the order of their ends."""
        return [span for span in self.all if span.name == name]

    def one(self, name: str) -> ReadableSpan:
        """The only one of its name."""
        (span,) = self.named(name)
        return span


def context_of(span: ReadableSpan) -> trace.SpanContext:
    """What others know of it."""
    context = span.get_span_context()
    assert context is not None
    return context


def id_of(span: ReadableSpan) -> tuple[int, int]:
    """Its trace and itself."""
    context = context_of(span)
    return context.trace_id, context.span_id


def parent_of(span: ReadableSpan) -> tuple[int, int] | None:
    """The same of its parent."""
    return None if span.parent is None else (span.parent.trace_id, span.parent.span_id)


@cache
def _exporter() -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


@contextmanager
def recording() -> Iterator[Spans]:
    """Keeps the spans of the block."""
    exporter = _exporter()
    exporter.clear()
    yield Spans(exporter)
    exporter.clear()
