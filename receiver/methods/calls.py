"""Plain calls: an operation is run while its requestor waits, by the same way as a task."""

from functools import partial
from typing import Any

import orjson

from receiver.dispatch import Answer, Later
from receiver.methods.later import follow
from receiver.methods.services import ServerCall, admission_of, session_of
from receiver.operation import Operation
from receiver.protocol.errors import InternalError, InvalidParams, ReceiverError
from receiver.protocol.handshake import Revision, adapt_result
from receiver.protocol.task_id import new_task_id
from receiver.protocol.ttl import MARGIN
from receiver.queue import encode_job
from receiver.store.record import Kind, Progress
from receiver.store.scripts import Argument
from receiver.store.tasks import NewTask
from receiver.telemetry.logs import bound
from receiver.telemetry.target import Target
from receiver.telemetry.tracing import enqueueing

PLAIN_TIMEOUT = 300_000  # ms that a plain call may take that declares no timeout


async def call_plainly(call: ServerCall, operation: Operation, params: Any) -> Answer | Later:
    """Runs ``operation`` and answers with what comes of it.  Params that do not fit are refused before that."""
    try:
        operation.bind(params)
    except ReceiverError as error:
        await call.services.sessions.touch(admission_of(call))
        refusal = operation.refuse(error, as_task=False)
        return Answer(refusal.payload, refusal.kind, is_error=refusal.is_error)
    timeout = operation.timeout_ms or PLAIN_TIMEOUT
    new = new_run(call, new_task_id(), operation, params, "call", timeout=timeout, ttl=timeout + MARGIN)
    begin = partial(create_run, call, new)
    finish = partial(render_call_outcome, session_of(call).revision)
    return follow(call, new.id, "call", finish, begin)


def render_call_outcome(revision: Revision, progress: Progress) -> Answer:
    """The answer of a plain call that is over."""
    if progress.payload is None:
        raise InternalError("The call was cancelled")
    if progress.outcome == "error":
        return Answer(progress.payload, "error")
    return Answer(adapt_result(progress.payload, revision), is_error=progress.status == "failed")


def read_arguments(call: ServerCall) -> Any:
    """``params.arguments``; none are an empty object."""
    arguments = call.params.get("arguments")
    return {} if arguments is None else arguments


def new_run(
    call: ServerCall, task_id: str, operation: Operation, params: Any, kind: Kind, *, timeout: int | None, ttl: int
) -> NewTask:
    """What is stored of a run that is to be made.  ``params`` is what the operation binds."""
    return NewTask(
        id=task_id,
        owner=call.principal.owner,
        queue=operation.queue_for(as_task=kind == "task"),
        kind=kind,
        ttl=ttl,
        job=encode_job(task_id),
        fields=_record_fields(call, operation, params, timeout, as_task=kind == "task"),
    )


async def create_run(call: ServerCall, new: NewTask) -> int:
    """Has it stored and queued; returns created_at."""
    target = Target(call.method, str(new.fields["tool"]))
    with bound(task_id=new.id), enqueueing(target, new.id, new.queue) as trace:
        if trace:
            new.fields["trace"] = trace
        return await call.services.tasks.create(admission_of(call, new.params), new)


def _record_fields(
    call: ServerCall, operation: Operation, params: Any, timeout: int | None, *, as_task: bool
) -> dict[str, Argument]:
    """The fields of the record that only the API tier knows."""
    settings = call.services.settings
    fields: dict[str, Argument] = {
        "tool": operation.key,
        "method": call.method,
        "params": orjson.dumps(params),
        "protocol": session_of(call).revision.version,
        "principal": orjson.dumps(call.principal.to_json()),
        "session": session_of(call).id,
        "poll_interval": settings.poll_interval,
        "max_attempts": operation.attempts_for(as_task=as_task, default=settings.max_attempts),
    }
    if not as_task:
        fields["request"] = orjson.dumps(call.id)
    if capabilities := session_of(call).capabilities:
        fields["capabilities"] = orjson.dumps(capabilities)
    if timeout is not None:
        fields["timeout"] = timeout
    if (token := _read_progress_token(call)) is not None:
        fields["progress_token"] = orjson.dumps(token)
    return fields


def _read_progress_token(call: ServerCall) -> str | int | None:
    meta = call.params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    if token is None or (isinstance(token, str | int) and not isinstance(token, bool)):
        return token
    raise InvalidParams("params._meta.progressToken must be a string or an integer")  # L-08
