"""What the server sends unasked: notifications, and the requests that it makes of a client.

Each is rendered to bytes, a whole JSON-RPC message.  One that belongs to a task says so in its ``_meta`` (T-53, T-38).
A plain call has a ``task_id`` of None here: no client knows of its record.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from receiver.protocol.handshake import RELATED_TASK, render_task
from receiver.protocol.jsonrpc import RequestId
from receiver.protocol.loglevel import LogLevel
from receiver.protocol.task import Task

Params = dict[str, Any]


def render_progress(
    token: str | int, progress: float, total: float | None, message: str | None, task_id: str | None
) -> bytes:
    """How far the work is that was asked for with ``token``, which is echoed with its type (T-60, L-08)."""
    params: Params = {"progressToken": token, "progress": progress, "total": total, "message": message}
    return _notify("notifications/progress", _present(params), task_id)


def render_log(level: LogLevel, logger: str | None, data: Any, task_id: str | None) -> bytes:
    """A log message; ``data`` is any JSON value.  Raises TypeError for what is none."""
    params: Params = {"level": level, "data": data}
    if logger is not None:
        params["logger"] = logger
    return _notify("notifications/message", params, task_id)


def render_status(task: Task) -> bytes:
    """What a task has become (T-23).  It names the task itself: no related-task (T-59)."""
    return _notify("notifications/tasks/status", render_task(task), None)


def render_form_elicitation(
    id: RequestId, message: str, schema: Mapping[str, Any], task_id: str | None, ttl: int | None = None
) -> bytes:
    """The request that a user fill in a form.  Clients that know forms only know no ``mode``, so there is none.

    ``ttl``: the client does it as a task of its own, kept for so many ms.
    """
    params = {"message": message, "requestedSchema": schema}
    return _request(id, "elicitation/create", _augment(params, ttl), task_id)


def render_url_elicitation(
    id: RequestId, message: str, url: str, elicitation_id: str, task_id: str | None, ttl: int | None = None
) -> bytes:
    """The request that a user open ``url`` (E-02)."""
    params = {"mode": "url", "message": message, "url": url, "elicitationId": elicitation_id}
    return _request(id, "elicitation/create", _augment(params, ttl), task_id)


def render_elicitation_complete(elicitation_id: str) -> bytes:
    """That what a user was sent to by a link is done (E-04)."""
    return _notify("notifications/elicitation/complete", {"elicitationId": elicitation_id}, None)


def render_sampling(id: RequestId, params: Mapping[str, Any], task_id: str | None, ttl: int | None = None) -> bytes:
    """The request that a client's model write a message; ``params`` as ``sampling`` checked them."""
    return _request(id, "sampling/createMessage", _augment(dict(params), ttl), task_id)


def render_task_request(id: RequestId, method: str, client_task: str) -> bytes:
    """A request about a task of the client's, which it names as its subject: no related-task (T-56)."""
    return _request(id, method, {"taskId": client_task}, None)


def render_cancelled(id: RequestId, reason: str | None, task_id: str | None) -> bytes:
    """That the answer to the request ``id``, one that the server made, is not wanted any more."""
    return _notify("notifications/cancelled", _present({"requestId": id, "reason": reason}), task_id)


def render_resource_updated(uri: str) -> bytes:
    """That a resource changed, for those who subscribed to it."""
    return _notify("notifications/resources/updated", {"uri": uri}, None)


def render_list_changed(kind: str) -> bytes:
    """That a list is not what the client was shown; ``kind`` is ``tools``, ``resources`` or ``prompts``."""
    return orjson.dumps({"jsonrpc": "2.0", "method": f"notifications/{kind}/list_changed"})


def _notify(method: str, params: Params, task_id: str | None) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "method": method, "params": _relate(params, task_id)})


def _request(id: RequestId, method: str, params: Params, task_id: str | None) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": _relate(params, task_id)})


def _augment(params: Params, ttl: int | None) -> Params:
    return params if ttl is None else params | {"task": {"ttl": ttl}}


def _relate(params: Params, task_id: str | None) -> Params:
    """``params`` with the task that they belong to, beside what their ``_meta`` says already."""
    if task_id is None:
        return params
    return params | {"_meta": params.get("_meta", {}) | {RELATED_TASK: {"taskId": task_id}}}


def _present(params: Params) -> Params:
    return {name: value for name, value in params.items() if value is not None}
