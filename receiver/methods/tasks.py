"""``tasks/get``, ``tasks/result``, ``tasks/list``, ``tasks/cancel``.

``params.taskId`` alone says which task is meant; a related-task in ``params._meta`` is ignored (T-55, T-57).
"""

from collections.abc import Awaitable
from functools import partial
from typing import TypeVar

from receiver.dispatch import Answer, Later
from receiver.methods.later import follow
from receiver.methods.services import ServerCall, admission_of, note, session_of
from receiver.protocol.cursor import Position
from receiver.protocol.errors import MethodNotFound, TaskNotFound, TaskWasCancelled
from receiver.protocol.handshake import PROTOCOL_VERSION, render_flat_task, render_task_list, splice_related_task
from receiver.protocol.lifecycle import is_terminal
from receiver.protocol.task_id import is_task_id
from receiver.store.admission import Admission
from receiver.store.record import Progress
from receiver.telemetry import audit
from receiver.telemetry.tracing import link

CANCELLED_MESSAGE = "Cancelled by the requestor"

Found = TypeVar("Found")


async def get_task(call: ServerCall) -> Answer:
    """The task as it stands."""
    _require_tasks(call)
    admission = admission_of(call)
    task = await _look_up(call, admission, call.services.tasks.get(admission, call.params.get("taskId")))
    note(call, admission, "success", task.status, task.id)
    return Answer(render_flat_task(call.services.pacer.pace(task)))


async def get_task_result(call: ServerCall) -> Answer | Later:
    """What the underlying request gave: at once if it is over (T-50), else when it is (T-51)."""
    _require_tasks(call)
    task_id, admission = call.params.get("taskId"), admission_of(call)
    progress = await _look_up(call, admission, call.services.tasks.get_progress(admission, task_id))
    link(progress.trace)
    audit.mention("task_retrieved", call.principal, task_id=task_id, status=progress.status)
    note(call, admission, "success", progress.status, str(task_id))
    if is_terminal(progress.status):
        return render_task_outcome(str(task_id), progress)
    finish = partial(render_task_outcome, str(task_id))
    return follow(call, str(task_id), "task", finish)


def render_task_outcome(task_id: str, progress: Progress) -> Answer:
    """The answer of tasks/result for a task that is over."""
    if progress.payload is None:
        raise TaskWasCancelled(task_id)
    if progress.outcome == "error":
        return Answer(progress.payload, "error")  # T-83
    result = splice_related_task(progress.payload, task_id)  # T-52, T-74, T-84
    return Answer(result, is_error=progress.status == "failed")


async def list_tasks(call: ServerCall) -> Answer:
    """A page of the requestor's own tasks, newest first (T-63, T-90)."""
    _require_tasks(call)
    services = call.services
    if not services.identifies:
        raise MethodNotFound("tasks/list needs requestors that can be told apart; this server knows none")  # T-88
    owner, cursor = call.principal.owner, call.params.get("cursor")
    after = None if cursor is None else Position.from_text(services.cursors.decode(call.method, owner, cursor))
    admission = admission_of(call)
    tasks, following = await services.tasks.list_page(admission, services.settings.page_size, after)
    note(call, admission, "success", f"{len(tasks)} tasks")
    encode = services.cursors.encode
    return Answer(render_task_list(tasks, encode(call.method, owner, following.to_text()) if following else None))


async def cancel_task(call: ServerCall) -> Answer:
    """Cancels a task: it is ``cancelled`` before this answers (T-69), and stays so (T-70)."""
    _require_tasks(call)
    admission, task_id = admission_of(call), call.params.get("taskId")
    task = await _look_up(call, admission, call.services.tasks.cancel(admission, task_id, CANCELLED_MESSAGE))
    audit.record("task_cancelled", call.principal, task_id=task.id)
    return Answer(render_flat_task(task))


async def _look_up(call: ServerCall, admission: Admission, found: Awaitable[Found]) -> Found:
    """What is found.  Who asks for what is not there leaves a trace (T-100), in the script if it has an id at all."""
    try:
        return await found
    except TaskNotFound:
        task_id = call.params.get("taskId")
        audit.record("denied", call.principal, operation=call.method)
        if not is_task_id(task_id):
            note(call, admission, "denied", "malformed")
        raise


def _require_tasks(call: ServerCall) -> None:
    revision = session_of(call).revision
    if not revision.tasks:  # T-05, T-06: not declared, not there
        raise MethodNotFound(f"{call.method} needs MCP {PROTOCOL_VERSION}; this is MCP {revision.version}")
