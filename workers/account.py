"""What is told of one run: in log lines, and in its span."""

from collections.abc import Iterator
from contextlib import contextmanager

import orjson
from opentelemetry.trace import Span

from receiver.protocol.outcome import Outcome
from receiver.session import digest_session
from receiver.store.record import ClaimedRun
from receiver.telemetry.logs import Bound
from receiver.telemetry.target import Target
from receiver.telemetry.tracing import continuing, fail, name_trace, running
from workers.roster import ActiveRun


@contextmanager
def account_for(active: ActiveRun) -> Iterator[None]:
    """Names a run in all log lines of the block, and in its span."""
    claim = active.claim
    target = _target_of(claim)
    with (
        running(
            target,
            claim.text("trace"),
            claim.task_id,
            claim.text("queue"),
            run=claim.run,
            attempt=claim.attempt,
            worker=claim.text("worker"),
        ) as active.span,
        Bound(lambda: _describe(claim, target, active.span)),
    ):
        yield


@contextmanager
def account_elsewhere(claim: ClaimedRun, trace: str) -> Iterator[None]:
    """The same in the process of an isolated run; its span is with the worker, which says what it is."""
    with continuing(trace) as span, Bound(lambda: _describe(claim, _target_of(claim), span)):
        yield


def close_account(span: Span, end: str) -> None:
    """How it ended, if there is no outcome."""
    if span.is_recording():
        span.set_attribute("mcp_tasks.end", end)


def close_with_outcome(span: Span, outcome: Outcome) -> None:
    """How it ended.  What the outcome says stays in the store."""
    close_account(span, outcome.status)
    if span.is_recording() and outcome.is_error:
        fail(span, str(orjson.loads(outcome.payload)["code"]) if outcome.kind == "error" else "tool_error")


def _target_of(claim: ClaimedRun) -> Target:
    return Target(claim.text("method"), claim.text("tool"))


def _describe(claim: ClaimedRun, target: Target, span: Span) -> dict[str, object]:
    session = claim.text("session")
    return {
        "task_id": claim.task_id,
        "run": claim.run,
        "worker_id": claim.text("worker"),
        "principal": claim.text("owner"),
        **({"session_id": digest_session(session)} if session else {}),
        **target.log_fields,
        **name_trace(span),
    }
