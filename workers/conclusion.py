"""What a function returned or raised, as the outcome of its run."""

from typing import Any

import orjson
import structlog

from receiver.operation import Operation
from receiver.protocol.capability import client_supports
from receiver.protocol.errors import ReceiverError, Retry, ToolError, UrlElicitationRequired
from receiver.protocol.outcome import Outcome
from receiver.store.record import ClaimedRun
from workers.ending import Ending

log = structlog.get_logger(__name__)


def conclude(operation: Operation, claim: ClaimedRun, ending: Ending, limit: int) -> Outcome | Retry:
    """The outcome, which has ``limit`` bytes at most, or the wish to be run again."""
    try:
        return _limit(operation, Outcome.of_result(operation.render(ending.unwrap(), params_of(claim))), limit)
    except Retry as retry:
        return retry
    except ToolError as error:
        if error.__cause__ is not None:
            log.warning("tool_refused", task_id=claim.task_id, exc_info=error.__cause__)
        return _limit(operation, operation.fail(str(error) or f"{name_of(operation)} failed"), limit)
    except UrlElicitationRequired as error:
        outcome = _encode_error(operation, error) if _opens_links(claim) else operation.fail(error.message)
        return _limit(operation, outcome, limit)
    except ReceiverError as error:
        return _limit(operation, _encode_error(operation, error), limit)
    except BaseException as error:  # whatever it raised: SystemExit too is only the tool's end
        log.error("tool_failed", task_id=claim.task_id, run=claim.run, exc_info=error)
        what = type(error).__name__
        return operation.fail(f"{name_of(operation)} failed: {what}; the server's log has the details")


def name_of(operation: Operation) -> str:
    """Its name in texts for people."""
    return f"{operation.noun} {operation.key!r}"


def params_of(claim: ClaimedRun) -> Any:
    """The params of the request, without what is not the operation's."""
    return orjson.loads(claim.fields["params"])


def _opens_links(claim: ClaimedRun) -> bool:
    """Whether the client that called can have its user open links (E-01, E-03)."""
    return client_supports(orjson.loads(claim.text("capabilities") or "{}"), "elicitation.url")


def _limit(operation: Operation, outcome: Outcome, limit: int) -> Outcome:
    size = len(outcome.payload)
    if size <= limit:
        return outcome
    what = f"The {outcome.kind} of {operation.noun.lower()} {operation.key!r}"
    return operation.fail(f"{what} has {size} bytes; {limit} are allowed")


def _encode_error(operation: Operation, error: ReceiverError) -> Outcome:
    """The error as it was raised (T-83), or without what JSON can't express."""
    try:
        return Outcome.of_error(error)
    except Exception:
        log.exception("tool_error_not_json")
    message = str(error.message).encode("utf-8", "replace").decode()
    code = error.code if -(2**63) <= error.code < 2**63 else None
    return Outcome.of_error(ReceiverError(message, code=code))
