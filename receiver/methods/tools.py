"""``tools/list`` and ``tools/call``: a tool is run as a task, or plainly on the same way."""

from functools import partial
from typing import Any

import orjson

from receiver.dispatch import Answer, Later
from receiver.methods.later import follow
from receiver.methods.services import ServerCall, admission_of, session_of
from receiver.protocol.errors import (
    InternalError,
    InvalidArguments,
    InvalidCursor,
    InvalidParams,
    MethodNotFound,
)
from receiver.protocol.handshake import PROTOCOL_VERSION, Revision, adapt_result, render_created, render_tool
from receiver.protocol.outcome import Outcome
from receiver.protocol.task import Task
from receiver.protocol.task_id import new_task_id
from receiver.protocol.ttl import MARGIN, grant_ttl, read_ttl
from receiver.queue import encode_job
from receiver.store.record import Kind, Progress
from receiver.store.scripts import Argument
from receiver.store.tasks import NewTask
from receiver.telemetry import audit
from receiver.tools.content import error_result
from receiver.tools.tool import Tool

PLAIN_TIMEOUT = 300_000  # ms that a plain call may take whose tool declares no timeout


async def list_tools(call: ServerCall) -> Answer:
    """All tools, on one page."""
    await call.services.sessions.touch(admission_of(call))
    if call.params.get("cursor") is not None:
        raise InvalidCursor  # none was ever given out
    revision = session_of(call).revision
    tools = [render_tool(tool.definition(), revision) for tool in call.services.app.tools]
    return Answer(orjson.dumps({"tools": tools}))


async def call_tool(call: ServerCall) -> Answer | Later:
    """Runs a tool: as a task if ``params.task`` is there, else plainly.

    A revision without tasks does not know that member, and it is ignored (T-26).
    """
    tool = _find_tool(call)
    if session_of(call).revision.tasks and call.params.get("task") is not None:
        return await _create_task(call, tool)
    return await _call_plainly(call, tool)


async def _create_task(call: ServerCall, tool: Tool) -> Answer:
    services = call.services
    if tool.task == "forbidden":  # T-09
        raise MethodNotFound(f"Tool {tool.name!r} can't be run as a task; call it without params.task")
    ttl = grant_ttl(read_ttl(call.params["task"]), services.ttl_bounds, tool.ttl_floor_ms)
    tool.bind(_read_arguments(call))  # refused before any state is written
    fields = _record_fields(call, tool, tool.timeout_ms, as_task=True)
    task_id = new_task_id()
    created_at = await services.tasks.create(admission_of(call), _new_task(call, task_id, tool, "task", ttl, fields))
    audit.record("task_created", call.principal, task_id=task_id, tool=tool.name, ttl=ttl)
    task = Task(task_id, "working", None, created_at, created_at, ttl, services.settings.poll_interval)  # T-31
    return Answer(render_created(task, tool.immediate))


async def _call_plainly(call: ServerCall, tool: Tool) -> Answer | Later:
    if tool.task == "required":  # T-12
        raise MethodNotFound(_say_what_is_required(call, tool))
    try:
        tool.bind(_read_arguments(call))
    except InvalidArguments as error:
        await call.services.sessions.touch(admission_of(call))
        return Answer(Outcome.of_result(error_result(error.message)).payload)
    timeout = tool.timeout_ms or PLAIN_TIMEOUT
    fields = _record_fields(call, tool, timeout, as_task=False)
    new = _new_task(call, new_task_id(), tool, "call", timeout + MARGIN, fields)
    begin = partial(call.services.tasks.create, admission_of(call), new)
    finish = partial(render_call_outcome, session_of(call).revision)
    return follow(call, new.id, "call", finish, begin)


def render_call_outcome(revision: Revision, progress: Progress) -> Answer:
    """The answer of a plain call that is over."""
    if progress.payload is None:
        raise InternalError("The call was cancelled")
    if progress.outcome == "error":
        return Answer(progress.payload, "error")
    return Answer(adapt_result(progress.payload, revision))


def _say_what_is_required(call: ServerCall, tool: Tool) -> str:
    revision = session_of(call).revision
    text = (
        f"Tool {tool.name!r} only runs as a task: call it with params.task, "
        f"from a client that supports tasks of MCP {PROTOCOL_VERSION}"
    )
    return text if revision.tasks else f"{text}; this is MCP {revision.version}"


def _find_tool(call: ServerCall) -> Tool:
    name = call.params.get("name")
    tool = call.services.app.tools.get(name) if isinstance(name, str) else None
    if tool is None:
        raise InvalidParams(f"Unknown tool: {name}")  # L-06
    return tool


def _read_arguments(call: ServerCall) -> Any:
    arguments = call.params.get("arguments")
    return {} if arguments is None else arguments


def _read_progress_token(call: ServerCall) -> str | int | None:
    meta = call.params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    if token is None or (isinstance(token, str | int) and not isinstance(token, bool)):
        return token
    raise InvalidParams("params._meta.progressToken must be a string or an integer")  # L-08


def _record_fields(call: ServerCall, tool: Tool, timeout: int | None, *, as_task: bool) -> dict[str, Argument]:
    """The fields of the record that only the API tier knows."""
    settings = call.services.settings
    fields: dict[str, Argument] = {
        "tool": tool.name,
        "method": call.method,
        "params": orjson.dumps(_read_arguments(call)),
        "protocol": session_of(call).revision.version,
        "principal": orjson.dumps(call.principal.to_json()),
        "session": session_of(call).id,
        "poll_interval": settings.poll_interval,
        "max_attempts": tool.attempts_for(as_task=as_task, default=settings.max_attempts),
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


def _new_task(call: ServerCall, task_id: str, tool: Tool, kind: Kind, ttl: int, fields: dict[str, Argument]) -> NewTask:
    return NewTask(
        id=task_id,
        owner=call.principal.owner,
        queue=tool.queue_for(as_task=kind == "task"),
        kind=kind,
        ttl=ttl,
        job=encode_job(task_id),
        fields=fields,
    )
