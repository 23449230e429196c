"""What is told of one request: in log lines, in its span and in metrics, and to its client if it fails."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

import structlog
from opentelemetry.trace import INVALID_SPAN, Span

from receiver.dispatch import Answer
from receiver.http.limits import StreamLimit
from receiver.protocol.errors import InternalError, ReceiverError, Refused, StartupError, Unavailable
from receiver.protocol.jsonrpc import Request
from receiver.protocol.task_id import is_task_id
from receiver.session import Session, digest_session
from receiver.telemetry import metrics
from receiver.telemetry.logs import Bound
from receiver.telemetry.target import Target
from receiver.telemetry.tracing import fail, name_trace, serving

_STOPPING = "This node is stopping and can't wait for the answer"

log = structlog.get_logger(__name__)


class Account:
    """Of a request, from its arrival to its answer: what it holds is released when that is sent.

    Ten thousand requests may wait: it is one object that is asked when there is something to tell.
    """

    __slots__ = (
        "_began",
        "_bound",
        "_limit",
        "_operation",
        "_owner",
        "_serving",
        "_session_id",
        "_span",
        "_target",
        "_task_id",
    )

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._bound: Bound | None = None
        self._limit: StreamLimit | None = None
        self._operation: metrics.Operation | None = None
        self._owner = ""
        self._serving: AbstractContextManager[Span] | None = None
        self._session_id = ""
        self._span: Span = INVALID_SPAN
        self._target: Target | None = None
        self._task_id = ""

    def __enter__(self) -> Self:
        self._bound = Bound(self._describe)
        self._bound.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._limit is not None:
            self._limit.give_back(self._owner)
        if self._serving is not None:
            self._serving.__exit__(kind, error, traceback)
        if self._operation is not None:
            self._operation.__exit__(kind, error, traceback)
        if self._bound is not None:
            self._bound.__exit__(kind, error, traceback)
            self._bound = None  # which knows this account: a cycle would be left to the garbage collector

    def begin(self, method: str) -> None:
        """It is a JSON-RPC request; the methods that have no handler are all one."""
        self._operation = metrics.Operation(method)

    def open(self, target: Target, request: Request, headers: Mapping[bytes, bytes]) -> None:
        """Begins its span, once it is known what it is about."""
        self._target = target
        task_id = (request.params or {}).get("taskId")
        if isinstance(task_id, str) and is_task_id(task_id):
            self._task_id = task_id
        self._serving = serving(target, request.id, request.params, headers)
        self._span = self._serving.__enter__()

    def of(self, owner: str) -> None:
        """Whose it is."""
        self._owner = owner

    def within(self, session: Session) -> None:
        """The session that it names."""
        self._session_id = session.id
        self._name(session)

    def wait_for(self, task_id: str, limit: StreamLimit) -> None:
        """It is answered later.  Raises Refused for one stream too many."""
        if task_id:
            self._task_id = task_id
        limit.take(self._owner)
        self._limit = limit

    def note(self, answer: Answer) -> Answer:
        """The answer, once it is known how it turned out."""
        self._end(answer.error_type)
        if answer.session is not None:
            self._name(answer.session)
        return answer

    def refuse(self) -> None:
        """It is answered with an HTTP status."""
        if self._operation is not None:
            self._operation.end("refused")

    def explain(self, error: BaseException) -> ReceiverError:
        """What a client is told that could not be answered: the JSON-RPC error of a request that could be read."""
        told = self._explain(error)
        self._end(str(told.code))
        if isinstance(told, Refused):
            metrics.count_limited(told.reason)
        return told

    def _describe(self) -> dict[str, object]:
        """The fields of its log lines; of a session's id a digest."""
        fields: dict[str, object] = {"principal": self._owner} if self._owner else {}
        if self._target is not None:
            fields |= self._target.log_fields | name_trace(self._span)
        if self._task_id:
            fields["task_id"] = self._task_id
        if self._session_id:
            fields["session_id"] = digest_session(self._session_id)
        return fields

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
