"""What is told of one request: in log lines, in its span and in metrics, and to its client if it fails."""

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import structlog
from opentelemetry.trace import INVALID_SPAN, Span

from receiver.dispatch import Answer
from receiver.protocol.errors import InternalError, ReceiverError, Refused, StartupError, Unavailable
from receiver.protocol.jsonrpc import Request
from receiver.protocol.task_id import is_task_id
from receiver.session import Session, digest_session
from receiver.telemetry import metrics
from receiver.telemetry.logs import bound
from receiver.telemetry.target import Target
from receiver.telemetry.tracing import fail, name_trace, serving

_STOPPING = "This node is stopping and can't wait for the answer"

log = structlog.get_logger(__name__)


class Account:
    """Of a request from its arrival to its answer; ``operation`` is None for who goes on with a stream."""

    def __init__(self, operation: metrics.Operation | None = None) -> None:
        self._operation = operation
        self._began = time.monotonic()
        self._span: Span = INVALID_SPAN

    @contextmanager
    def open(self, target: Target, request: Request, headers: Mapping[bytes, bytes]) -> Iterator[None]:
        """Names it in all log lines of the block, and in its span."""
        with serving(target, request.id, request.params, headers) as self._span:
            task_id = (request.params or {}).get("taskId")
            about = {"task_id": task_id} if is_task_id(task_id) else {}
            with bound(**target.log_fields, **name_trace(self._span), **about):
                yield

    @contextmanager
    def within(self, session: Session) -> Iterator[None]:
        """The same of its session; of the id a digest."""
        self._name(session)
        with bound(session_id=digest_session(session.id)):
            yield

    def note(self, answer: Answer) -> Answer:
        """The answer, once it is known how it turned out."""
        self._end(answer.error_type)
        if answer.session is not None:
            self._name(answer.session)
        return answer

    def explain(self, error: BaseException) -> ReceiverError:
        """What a client is told that could not be answered: the JSON-RPC error of a request that could be read."""
        told = self._explain(error)
        self._end(str(told.code))
        if isinstance(told, Refused):
            metrics.count_limited(told.reason)
        return told

    def _end(self, error_type: str | None) -> None:
        if self._operation is not None:
            self._operation.end(error_type or "")
        if error_type is not None:
            fail(self._span, error_type)

    def _name(self, session: Session) -> None:
        if self._span.is_recording():
            self._span.set_attribute("mcp.session.id", digest_session(session.id))
            self._span.set_attribute("mcp.protocol.version", session.revision.version)

    def _explain(self, error: BaseException) -> ReceiverError:
        if isinstance(error, ReceiverError):
            return error
        if isinstance(error, asyncio.CancelledError):  # by the web server, when its grace period is over
            return InternalError(_STOPPING, data={"reason": "stopping"})
        if isinstance(error, StartupError):  # mounted, no lifespan could say so; the next request tries again
            log.error("not_started", detail=str(error))
            return Unavailable()
        log.exception("request_failed", duration_s=round(time.monotonic() - self._began, 3), exc_info=error)
        return InternalError()  # T-79
