"""Takes what clients answer to requests of ours, on whatever node: first it is looked at, then it counts, once."""

from typing import Any, get_args

import orjson

from receiver.methods.services import Services
from receiver.principal import Principal
from receiver.protocol.client_task import ClientTask, read_client_task, read_created_task
from receiver.protocol.elicitation import Action, read_elicited
from receiver.protocol.errors import InvalidAnswer
from receiver.protocol.jsonrpc import Response
from receiver.protocol.sampling import check_sampled
from receiver.session import Session
from receiver.store.inputs import Asked
from receiver.telemetry import audit, metrics

_UNFIT = "The client's task gave something else than what was asked for"


async def take_answer(
    services: Services, session: Session, principal: Principal, response: Response, address: str = ""
) -> bool:
    """Takes an answer, or ignores it; False if this session was never asked what it answers (H-07)."""
    asked = await services.inputs.find(response.id, session) if isinstance(response.id, str) else None
    caller = audit.client(principal, "answer", response.id, address, _arguments_of(response))
    rejected = caller._replace(digest="", size="")  # any number of these are one event: nothing limits them
    if asked is None:
        audit.record("denied", principal, operation="answer")
        services.backlog.note(audit.event_of(rejected._replace(request=""), "denied", "not asked"))
        return False
    task = _read_task(asked, response)
    if task is not None:
        accepted = await services.inputs.accept(str(response.id), session, task, caller)
        metrics.count_question(_method(asked), "task" if accepted else "ignored")
        event = "client_task_accepted" if accepted else "client_task_refused"
        about = {"task_id": asked.task_id, "client_task_id": task.id}
        audit.record(event, principal, request=response.id, **about)  # T-101, T-102
    else:
        accepted = await _take(services, session, asked, response, caller)
        if asked.request.get("method") != "tasks/get":
            metrics.count_question(_method(asked), _name_outcome(asked, response) if accepted else "ignored")
        audit.record("answer_taken" if accepted else "answer_ignored", principal, request=response.id)
    if not accepted:
        services.backlog.note(audit.event_of(rejected, "failure", "ignored", asked.task_id))
    return True


def _arguments_of(response: Response) -> bytes:
    return orjson.dumps(response.result if response.error is None else response.error)


async def _take(services: Services, session: Session, asked: Asked, response: Response, caller: audit.Caller) -> bool:
    inputs, request_id = services.inputs, str(response.id)
    if not asked.request:
        return False
    if asked.request["method"] == "tasks/get":
        said, interval = _read_standing(asked.request["params"]["taskId"], response)
        return await inputs.answer_poll(request_id, session, said, interval)
    answer = check_response(asked.question, response)
    if answer is None and asked.request["method"] == "tasks/result":
        answer = orjson.dumps({"failure": _UNFIT})  # no other will come
    return answer is not None and await inputs.answer(request_id, session, answer, caller)


def check_response(asked: dict[str, Any], response: Response) -> bytes | None:
    """The answer to the request ``asked`` as it is stored, or None for one that does not fit it (E-06)."""
    if response.error is not None:
        return orjson.dumps({"error": response.error})
    try:
        if asked["method"] == "elicitation/create":
            read_elicited(response.result, asked["params"].get("requestedSchema"))
        else:
            check_sampled(response.result)
    except InvalidAnswer:
        return None
    return orjson.dumps({"result": response.result})


def _method(asked: Asked) -> str:
    """The method of the question; ``""`` once it is forgotten."""
    return str(asked.question.get("method", ""))


def _name_outcome(asked: Asked, response: Response) -> str:
    """What an answer that was taken is counted as."""
    if response.error is not None:
        return "error"
    if _method(asked) != "elicitation/create":
        return "answered"
    action = response.result.get("action") if isinstance(response.result, dict) else None
    return str(action) if action in get_args(Action) else "error"  # of a client's task: an unfit one ends it, too


def _read_task(asked: Asked, response: Response) -> ClientTask | None:
    """The task by which the client answers a request that asked for one; a plain result is as good (T-26)."""
    if "task" not in asked.request.get("params", {}) or response.error is not None:
        return None
    try:
        return read_created_task(response.result)
    except InvalidAnswer:
        return None


def _read_standing(client_task: str, response: Response) -> tuple[bytes, int | None]:
    """What ``tasks/get`` said, as it is stored, and the ms until it may be sent again, None for as many as before."""
    if response.error is not None:
        return orjson.dumps({"error": response.error}), None
    try:
        task = read_client_task(response.result)
    except InvalidAnswer as error:
        return orjson.dumps({"error": {"message": str(error)}}), None
    if task.id != client_task:
        return orjson.dumps({"error": {"message": "taskId: another task"}}), None
    return orjson.dumps({"result": {"status": task.status}}), task.poll_interval
