"""What happened, counted: one function an event, called where it happens and nowhere else.

The labels' children are looked up once and kept: an increment costs about a microsecond.
"""

import time
from collections.abc import Iterable
from functools import cache
from types import TracebackType
from typing import Self

from receiver.telemetry import instruments as of
from receiver.telemetry.instruments import OTHER, UNANSWERED, Spec

_QUESTION_KINDS = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling"}
_LOST = {"requeued": "worker_lost", "failed": "attempts_spent"}  # by the verdict of the script

# Each of these keeps a child for each set of labels that it was asked for; all callers below bound them.
_created = cache(of.CREATED.labels)
_finished = cache(of.FINISHED.labels)
_run_seconds = cache(of.RUN_SECONDS.labels)
_queue_wait = cache(of.QUEUE_WAIT_SECONDS.labels)
_rejected = cache(of.REJECTED.labels)
_questions = cache(of.QUESTIONS.labels)
_wakeups = cache(of.WAKEUPS.labels)
_operations = cache(of.OPERATION_DURATION.labels)
_scripts = cache(of.SCRIPT_TIMES.labels)


def introduce(version: str, tools: Iterable[str]) -> None:
    """Shows what runs here, and the counters of its tools, so that the first increase of each can be seen."""
    of.BUILD_INFO.labels(version).set(1)
    for tool in tools:
        _created(tool)
        for status in of.ENDS:
            _finished(tool, status)


# Tasks


def count_created(tool: str) -> None:
    """A task was created."""
    _created(tool).inc()


def count_finished(tool: str, status: str) -> None:
    """A task became terminal."""
    _finished(tool, status).inc()


def count_cancelled(tool: str, phase: str) -> None:
    """A task was cancelled, and so is finished; ``phase``: ``queued``, ``running`` or ``paused``."""
    of.CANCELLED.labels(phase).inc()
    count_finished(tool, "cancelled")


def count_rejected(before: str, after: str) -> None:
    """The store refused a change to the status ``after``; ``before`` is what stood in the way."""
    _rejected(before, after).inc()


def count_lost(kind: str, tool: str, verdict: str) -> None:
    """The lease of a run ended; ``verdict`` is what became of its task."""
    if verdict in _LOST:
        of.RECOVERED.labels(_LOST[verdict]).inc()
    if verdict == "failed" and kind == "task":
        count_finished(tool, "failed")


def count_death() -> None:
    """The process of an isolated run died, and its task is run again."""
    of.RECOVERED.labels("process_died").inc()


def count_expired(status: str) -> None:
    """A task went away with its ttl; ``""`` for a status that nobody knows."""
    of.EXPIRED.labels(status or "unknown").inc()


def observe_queue_wait(tool: str, seconds: float) -> None:
    """A task is run for the first time."""
    _queue_wait(tool).observe(seconds)


def observe_run(tool: str, status: str, seconds: float) -> None:
    """A run of a task ended."""
    _run_seconds(tool, status).observe(seconds)


def count_question(method: str, outcome: str) -> None:
    """A question to a client was asked, answered, or given up."""
    _questions(_QUESTION_KINDS.get(method, OTHER), outcome).inc()


# Whoever waits


class ResultWait:
    """A ``tasks/result`` that waits from now on; ``outcome`` is how it ends.  A plain call is not counted."""

    def __init__(self, *, is_counted: bool) -> None:
        self.outcome = "left"
        self._is_counted = is_counted
        self._began = time.perf_counter()
        of.RESULT_WAITERS.inc(int(is_counted))

    def end(self) -> None:
        """It waits no longer."""
        if self._is_counted:
            of.RESULT_WAITERS.dec()
            of.RESULT_WAIT_SECONDS.labels(self.outcome).observe(time.perf_counter() - self._began)


def count_wakeups(source: str, waiters: int) -> None:
    """So many waiters were told to look again."""
    _wakeups(source).inc(waiters)


def count_reconnect() -> None:
    """A connection for messages was made anew."""
    of.RECONNECTS.inc()


# Requestors


class Operation:
    """A request of a known ``method`` (``other`` for all that are not) while it is answered."""

    def __init__(self, method: str) -> None:
        self._method = method
        self._error_type = UNANSWERED
        self._began = time.perf_counter()

    def end(self, error_type: str = "") -> None:
        """It is answered: with a result, a ``tool_error``, a JSON-RPC error of this code, or ``refused``."""
        self._error_type = _bound(of.SPECS["mcp_server_operation_duration_seconds"], "error_type", error_type)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _operations(self._method, self._error_type).observe(time.perf_counter() - self._began)


def count_limited(reason: str) -> None:
    """A request was refused for a limit."""
    of.LIMITED.labels(_bound(of.SPECS["mcp_tasks_rate_limited_total"], "reason", reason)).inc()


def count_auth_failure(reason: str) -> None:
    """A request was refused for its credentials."""
    of.AUTH_FAILURES.labels(reason).inc()


def count_miss() -> None:
    """A task was asked for that is not there for this requestor."""
    of.MISSES.inc()


# The store


def observe_script(name: str, began: float) -> None:
    """A script was answered that was sent at ``began``, by ``time.perf_counter``."""
    _scripts(name).observe(time.perf_counter() - began)


def count_store_error(kind: str) -> None:
    """A script failed."""
    of.STORE_ERRORS.labels(kind).inc()


def _bound(spec: Spec, label: str, value: str) -> str:
    """``value`` if it is one of the label's, else ``other``: tools choose codes of their own."""
    return value if value in dict(spec.labels)[label] else OTHER
