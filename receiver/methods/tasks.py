"""``tasks/get``, ``tasks/result``, ``tasks/list``, ``tasks/cancel``.

``params.taskId`` alone says which task is meant; a related-task in ``params._meta`` is ignored (T-55, T-57).
"""

from functools import partial

from receiver.dispatch import Answer, Later
from receiver.methods.services import ServerCall
from receiver.protocol.errors import MethodNotFound, TaskWasCancelled
from receiver.protocol.handshake import render_flat_task, render_task_list, splice_related_task
from receiver.protocol.lifecycle import is_terminal
from receiver.store.record import Progress

CANCELLED_MESSAGE = "Cancelled by the requestor"


async def get_task(call: ServerCall) -> Answer:
    """The task as it stands."""
    return Answer(render_flat_task(await call.services.tasks.get(call.params.get("taskId"), call.principal.owner)))


async def get_task_result(call: ServerCall) -> Answer | Later:
    """What the underlying request gave: at once if it is over (T-50), else when it is (T-51)."""
    task_id = call.params.get("taskId")
    progress = await call.services.tasks.get_progress(task_id, call.principal.owner)
    if is_terminal(progress.status):
        return _render_outcome(str(task_id), progress)
    return Later(partial(_wait_for_result, call, str(task_id), progress.remaining), streams=True)


async def _wait_for_result(call: ServerCall, task_id: str, remaining: int) -> Answer:
    progress = await call.services.waiter.wait_until_terminal(task_id, call.principal.owner, remaining)
    return _render_outcome(task_id, progress)


def _render_outcome(task_id: str, progress: Progress) -> Answer:
    if progress.payload is None:
        raise TaskWasCancelled(task_id)
    if progress.outcome == "error":
        return Answer(progress.payload, "error")  # T-83
    return Answer(splice_related_task(progress.payload, task_id))  # T-52, T-74, T-84


async def list_tasks(call: ServerCall) -> Answer:
    """A page of the requestor's own tasks, newest first (T-63, T-90)."""
    services = call.services
    if not services.identifies:
        raise MethodNotFound("tasks/list needs requestors that can be told apart; this server knows none")  # T-88
    owner, cursor = call.principal.owner, call.params.get("cursor")
    after = None if cursor is None else services.cursors.decode(owner, cursor)
    tasks, following = await services.tasks.list_page(owner, services.settings.page_size, after)
    return Answer(render_task_list(tasks, services.cursors.encode(owner, following) if following else None))


async def cancel_task(call: ServerCall) -> Answer:
    """Cancels a task: it is ``cancelled`` before this answers (T-69), and stays so (T-70)."""
    task_id, owner = call.params.get("taskId"), call.principal.owner
    return Answer(render_flat_task(await call.services.tasks.cancel(task_id, owner, CANCELLED_MESSAGE)))
