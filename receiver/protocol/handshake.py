"""The wire of MCP 2025-11-25: what the server declares, and its renderings of a task.

A result is rendered to bytes, ready for ``jsonrpc.frame_result``.  An outcome was encoded when its run ended; the
task that it belongs to is spliced into those bytes here.
"""

import time
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import orjson

from receiver.protocol.task import Task

PROTOCOL_VERSION = "2025-11-25"
SUPPORTED_VERSIONS = (PROTOCOL_VERSION,)

RELATED_TASK = "io.modelcontextprotocol/related-task"
IMMEDIATE_RESPONSE = "io.modelcontextprotocol/model-immediate-response"

_OWN_META = b'{"_meta":'
_RELATED_KEY = orjson.dumps(RELATED_TASK)


def negotiate_version(asked: object) -> str:
    """The version to answer ``initialize`` with: the one asked for, or the latest that is supported (L-01)."""
    return asked if isinstance(asked, str) and asked in SUPPORTED_VERSIONS else PROTOCOL_VERSION


def server_capabilities(*, tasks_list: bool) -> dict[str, Any]:
    """What the server declares (T-01, T-04, T-06).  ``tasks_list``: whether requestors can be told apart (T-88)."""
    tasks: dict[str, Any] = {"cancel": {}, "requests": {"tools": {"call": {}}}}  # T-104
    if tasks_list:
        tasks["list"] = {}  # T-05
    return {"tools": {}, "tasks": tasks}


def render_initialize(
    *,
    protocol_version: str,
    capabilities: dict[str, Any],
    name: str,
    version: str,
    title: str | None = None,
    instructions: str | None = None,
) -> bytes:
    """The InitializeResult of a server called ``name``."""
    info = {"name": name, "version": version} | ({} if title is None else {"title": title})
    result = {"protocolVersion": protocol_version, "capabilities": capabilities, "serverInfo": info}
    if instructions is not None:
        result["instructions"] = instructions
    return orjson.dumps(result)


def render_task(task: Task) -> dict[str, Any]:
    """The Task object: all members each time (X-14), but no ``statusMessage`` where there is none."""
    rendered: dict[str, Any] = {"taskId": task.id, "status": task.status}
    if task.status_message is not None:
        rendered["statusMessage"] = task.status_message
    rendered["createdAt"] = render_time(task.created_at)  # T-41
    rendered["lastUpdatedAt"] = render_time(task.updated_at)  # T-42
    rendered["ttl"] = task.ttl  # T-44
    rendered["pollInterval"] = task.poll_interval  # T-46
    return rendered


def render_time(milliseconds: int) -> str:
    """A time since the epoch in ISO 8601, in UTC and to the millisecond."""
    seconds, fraction = divmod(milliseconds, 1000)
    return f"{_render_second(seconds)}.{fraction:03d}Z"


def render_created(task: Task, immediate: str | None) -> bytes:
    """The CreateTaskResult.  ``immediate`` is what the host may tell its model at once (T-15)."""
    meta: dict[str, Any] = {RELATED_TASK: {"taskId": task.id}}
    if immediate is not None:
        meta[IMMEDIATE_RESPONSE] = immediate
    return orjson.dumps({"task": render_task(task), "_meta": meta})


def render_flat_task(task: Task) -> bytes:
    """The result of ``tasks/get`` and ``tasks/cancel``, which names its task itself: no related-task (T-58)."""
    return orjson.dumps(render_task(task))


def render_task_list(tasks: Iterable[Task], next_cursor: str | None) -> bytes:
    """The result of ``tasks/list``.  ``next_cursor`` is None on the last page (T-64)."""
    result: dict[str, Any] = {"tasks": [render_task(task) for task in tasks]}
    if next_cursor is not None:
        result["nextCursor"] = next_cursor
    return orjson.dumps(result)


def splice_related_task(payload: bytes, task_id: str) -> bytes:
    """The result of ``tasks/result``: ``payload`` with related-task in its ``_meta`` (T-74, X-17).

    ``payload`` is what ``Outcome.of_result`` encoded, so that a ``_meta`` of its own is its first member.
    """
    member = b'%b:{"taskId":%b}' % (_RELATED_KEY, orjson.dumps(task_id))
    if payload.startswith(_OWN_META):
        return _splice_into_own(payload, member, task_id)
    if payload == b"{}":
        return b'{"_meta":{%b}}' % member
    return payload.replace(b"{", b'{"_meta":{%b},' % member, 1)


def _splice_into_own(payload: bytes, member: bytes, task_id: str) -> bytes:
    start = _OWN_META + b"{"
    if not payload.startswith(start) or payload.startswith(start + b"}") or _RELATED_KEY in payload:
        return _encode_again(payload, task_id)
    return payload.replace(start, start + member + b",", 1)


def _encode_again(payload: bytes, task_id: str) -> bytes:
    """``payload`` whose own ``_meta`` is empty, no object, or perhaps names a task: only ours counts, once."""
    result = orjson.loads(payload)
    own = result["_meta"] if isinstance(result["_meta"], dict) else {}
    result["_meta"] = own | {RELATED_TASK: {"taskId": task_id}}
    return orjson.dumps(result)


@lru_cache(maxsize=1024)
def _render_second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
