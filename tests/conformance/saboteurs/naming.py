"""What spoils the checks of ``ops/conform/checks/naming.py``."""

from ops.conform.checks import naming
from ops.conform.checks.results import RELATED_TASK
from tests.conformance.sabotage import Answer, Call, spoils_request


def take_meta(call: Call) -> None:
    """Lets ``_meta`` say which task is meant."""
    if isinstance(named := (call.params.get("_meta") or {}).get(RELATED_TASK), dict):
        call.message = call.message | {"params": {**call.params, "taskId": named["taskId"]}}


@spoils_request(naming.meta_does_not_change_what_is_read)
def get_what_meta_names(call: Call) -> None:
    if call.method == "tasks/get":
        take_meta(call)


@spoils_request(naming.meta_does_not_change_what_is_read, patience=3)
def await_what_meta_names(call: Call) -> None:
    if call.method == "tasks/result":
        take_meta(call)


@spoils_request(naming.meta_does_not_change_what_is_cancelled, says="which params.taskId names")
def cancel_what_meta_names(call: Call) -> None:
    if call.method == "tasks/cancel":
        take_meta(call)


@spoils_request(naming.meta_does_not_change_what_is_cancelled, says="in _meta alone")
async def cancel_both(call: Call) -> None:
    if call.method == "tasks/cancel" and "_meta" in call.params:
        await call.ask("tasks/cancel", {"taskId": call.params["_meta"][RELATED_TASK]["taskId"]})


@spoils_request(naming.meta_does_not_name_a_task)
def take_meta_for_missing(call: Call) -> None:
    if call.method == "tasks/get":
        take_meta(call)


@spoils_request(naming.meta_does_not_name_a_task, says="no request named it")
async def refuse_and_cancel(call: Call) -> None:
    if call.method == "tasks/cancel" and "_meta" in call.params:
        await call.ask("tasks/cancel", {"taskId": call.params["_meta"][RELATED_TASK]["taskId"]})


@spoils_request(naming.malformed_task_ids)
def mind_types_alone(call: Call) -> Answer | None:
    return call.error(-32600) if call.method == "tasks/result" and call.params.get("taskId") == 5 else None


@spoils_request(naming.malformed_task_ids)
def fall_over_long_ids(call: Call) -> Answer | None:
    is_long = call.method == "tasks/cancel" and len(str(call.params.get("taskId"))) > 1000
    return Answer.json({"detail": "Internal Server Error"}, 500) if is_long else None


@spoils_request(naming.malformed_task_ids)
def need_params(call: Call) -> Answer | None:
    return call.error(-32600) if call.method == "tasks/get" and "params" not in call.message else None
