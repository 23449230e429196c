"""docs/reference/errors.md, from ``receiver.protocol.errors``: what a requestor may be told, when, and what to do."""

from collections.abc import Iterator
from dataclasses import dataclass

import receiver
from ops.reference.failures import FAILURES, REFUSALS
from ops.reference.markdown import write_table
from receiver.protocol.errors import (
    InternalError,
    InvalidArguments,
    InvalidCursor,
    InvalidParams,
    InvalidRequest,
    MethodNotFound,
    ParseError,
    ReceiverError,
    Refused,
    ResourceNotFound,
    TaskAlreadyFinished,
    TaskExpired,
    TaskNotFound,
    TaskWasCancelled,
    Unavailable,
    UrlElicitationRequired,
    WorkerLost,
)


@dataclass(frozen=True)
class Answer:
    """``error``: one as it is sent; ``when`` it is, and what ``to_do`` then."""

    error: ReceiverError
    when: str
    to_do: str

    @property
    def reason(self) -> str | None:
        """The word by which programs know a failure of the server."""
        reason: str | None = self.error.data.get("reason") if isinstance(self.error.data, dict) else None
        return reason


ANSWERS = (
    Answer(
        ParseError("Parse error: …"),
        "the body is not JSON, is nested too deep, or an object has two members of the same name",
        "mend the client",
    ),
    Answer(
        InvalidRequest(),
        "the body is not one JSON-RPC message: a batch, another version, an id that is neither text nor integer. "
        "With HTTP 200: a second `initialize`, or a request without a session",
        "mend the client; `initialize` once, and first",
    ),
    Answer(
        MethodNotFound(),
        "there is no such method, or not in this revision of MCP; a tool is called as a task and must not be, or must "
        "be and is not; `tasks/list` without authorization",
        "read the text: it says which; look at `execution.taskSupport` of the tool",
    ),
    Answer(InvalidParams(), "params lack something or do not fit; no tool or prompt has this name", "read the text"),
    Answer(
        InvalidArguments("Invalid arguments: pages: …"),
        "the arguments of a task do not fit the tool's schema; nothing was created. A plain call gets the same text as "
        "a result with `isError`",
        "correct the fields that the text names",
    ),
    Answer(
        InvalidCursor(),
        "the cursor is not from this list, this requestor, or these secrets",
        "list again without a cursor",
    ),
    Answer(
        TaskNotFound(),
        "the id is unknown, malformed or somebody else's, or its ttl has ended: one answer for all",
        "use the id that you were given; ask for a longer `ttl` next time",
    ),
    Answer(TaskAlreadyFinished("completed"), "`tasks/cancel` of a task that has ended", "take its result"),
    Answer(TaskWasCancelled("…"), "`tasks/result` of a cancelled task", "nothing: there is no result"),
    Answer(TaskExpired(), "the ttl ended while `tasks/result` waited", "ask for a longer `ttl` next time"),
    Answer(ResourceNotFound("…"), "no resource has this URI", "list the resources"),
    Answer(
        UrlElicitationRequired({"https://example.com/connect": "…"}),
        "the tool can't work before the user has opened a link",
        "show the links of `data.elicitations`, then call again",
    ),
    Answer(
        InternalError(),
        "a defect: the log has `request_failed` and a traceback. Other texts: a call that was not finished in time, or "
        "was cancelled; what a resource, prompt or completion failed with",
        "tell the operator",
    ),
    Answer(
        InternalError("This node is stopping and can't wait for the answer", data={"reason": "stopping"}),
        "the node shuts down while a request waits",
        "ask again: another node answers. The task goes on",
    ),
    Answer(
        Unavailable(),
        "the store did not answer for `RECEIVER_REDIS_PATIENCE_SECONDS`. A create may have been done all the same",
        "ask again after `retryAfterMs`; tasks and runs are not lost",
    ),
    Answer(
        Refused("rate_limited", "Too many requests; try again later"),
        "more than `RECEIVER_RATE_LIMIT` requests of this kind, or more than `RECEIVER_MISS_LIMIT` look-ups of tasks "
        "that don't exist",
        "wait `retryAfterMs`; poll at the task's `pollInterval`",
    ),
    Answer(
        Refused("too_many_tasks", "1000 unfinished tasks are the limit; wait for some to finish"),
        "the requestor has `RECEIVER_MAX_TASKS_PER_PRINCIPAL` unfinished tasks",
        "wait for some to finish, or cancel some",
    ),
    Answer(
        Refused("queue_full", "Too many tasks are waiting to be run; try again later"),
        "`RECEIVER_QUEUE_LIMIT` tasks wait in that queue",
        "operators: start workers",
    ),
    Answer(
        Refused("too_many_streams", "1000 open streams are the limit; close some"),
        "the requestor has `RECEIVER_MAX_STREAMS_PER_PRINCIPAL` streams and blocked results open on this node; for a "
        "GET stream it is HTTP 429",
        "close some; poll instead of blocking in `tasks/result`",
    ),
    Answer(
        Refused("too_many_subscriptions", "100 subscriptions are the limit; end some of them"),
        "the session has `RECEIVER_MAX_SUBSCRIPTIONS`",
        "end some",
    ),
    Answer(
        Refused("storage_full", "The task store is full; try again later"),
        "Redis has reached its `maxmemory`; what runs goes on",
        "operators: give Redis more memory, or lower `RECEIVER_MAX_TTL`",
    ),
    Answer(
        WorkerLost(3),
        "the worker was lost in the last attempt that the task had; also the outcome of a failed task",
        "call again, if the tool bears it; operators: look why workers die",
    ),
)

_HEAD = """\
# Errors

Made from [receiver/protocol/errors.py](../../receiver/protocol/errors.py) by `make docs`; don't edit it by hand.

## JSON-RPC errors

A request that could be read is answered with HTTP 200, whatever the error: some clients drop their connection on any
other status. The status below is that of an answer to a body that could not be read. `data.reason` is for programs, the
text for people. What is refused at once with `data.retryAfterMs` has a `Retry-After` header too, in seconds.
"""

_HTTP = """
## Refused over HTTP

What is wrong with the request as such is refused before any method is looked for. The body is a JSON-RPC error without
an id; its code is -32600, or as in the table above.
"""

_FAILED = """
## What a failed task says

These are written by the server, as a result with `isError`. Its text is also the task's `statusMessage`; the status is
`failed`. A plain call gets the same result.
"""

_RAISED = """
## What tools raise

Any other exception is a result with `isError` that names its type; the traceback goes to the log only.
"""


def render() -> str:
    """The page as Markdown."""
    columns = ("code", "`data.reason`", "HTTP", "text", "when", "what to do")
    parts = [_HEAD, *write_table(columns, map(_write_answer, ANSWERS))]
    parts += [_HTTP, *write_table(("status", "when", "what to do"), _http_rows())]
    parts += [_FAILED, *write_table(("text", "when", "what to do"), FAILURES)]
    parts += [_RAISED, *write_table(("exception", "is"), _raised_rows())]
    return "\n".join(parts) + "\n"


def _write_answer(answer: Answer) -> tuple[str, ...]:
    error = answer.error
    reason = f"`{answer.reason}`" if answer.reason else ""
    return str(error.code), reason, str(error.http_status), error.message, answer.when, answer.to_do


def _http_rows() -> Iterator[tuple[str, str, str]]:
    for status, rows in REFUSALS.items():
        for when, to_do in rows:
            yield str(status), when, to_do


def _raised_rows() -> Iterator[tuple[str, str]]:
    for name in receiver.__all__:
        raised = getattr(receiver, name)
        if isinstance(raised, type) and issubclass(raised, Exception):
            summary = (raised.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
            yield f"`{name}`", " ".join(summary.replace("``", "`").split())
