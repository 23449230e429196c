"""``tools/list`` and ``tools/call``: a tool is run as a task, or plainly on the same way."""

from functools import partial
from typing import Any

import orjson

from receiver.dispatch import Answer, Later
from receiver.methods.services import ServerCall
from receiver.protocol.errors import (
    InternalError,
    InvalidArguments,
    InvalidCursor,
    InvalidParams,
    MethodNotFound,
    TaskExpired,
)
from receiver.protocol.handshake import PROTOCOL_VERSION, render_created
from receiver.protocol.outcome import Outcome
from receiver.protocol.task import Task
from receiver.protocol.task_id import new_task_id
from receiver.protocol.ttl import MARGIN, grant_ttl, read_ttl
from receiver.queue import encode_job
from receiver.store.record import Kind
from receiver.store.scripts import Argument
from receiver.store.tasks import NewTask
from receiver.tools.content import error_result
from receiver.tools.tool import Tool

PLAIN_TIMEOUT = 300_000  # ms that a plain call may take whose tool declares no timeout


async def list_tools(call: ServerCall) -> Answer:
    """All tools, on one page."""
    if call.params.get("cursor") is not None:
        raise InvalidCursor  # none was ever given out
    return Answer(orjson.dumps({"tools": [tool.definition() for tool in call.services.app.tools]}))


async def call_tool(call: ServerCall) -> Answer | Later:
    """Runs a tool: as a task if ``params.task`` is there, else plainly."""
    tool = _find_tool(call)
    if call.params.get("task") is not None:
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
    created_at = await services.tasks.create(_new_task(call, task_id, tool, "task", ttl, fields))
    task = Task(task_id, "working", None, created_at, created_at, ttl, services.settings.poll_interval)  # T-31
    return Answer(render_created(task, tool.immediate))


async def _call_plainly(call: ServerCall, tool: Tool) -> Answer | Later:
    if tool.task == "required":  # T-12
        raise MethodNotFound(
            f"Tool {tool.name!r} only runs as a task: call it with params.task, "
            f"from a client that supports tasks of MCP {PROTOCOL_VERSION}"
        )
    try:
        tool.bind(_read_arguments(call))
    except InvalidArguments as error:
        return Answer(Outcome.of_result(error_result(error.message)).payload)
    timeout = tool.timeout_ms or PLAIN_TIMEOUT
    fields = _record_fields(call, tool, timeout, as_task=False)
    new = _new_task(call, new_task_id(), tool, "call", timeout + MARGIN, fields)
    return Later(partial(_run_plainly, call, new), streams=False)


async def _run_plainly(call: ServerCall, new: NewTask) -> Answer:
    try:
        progress = await call.services.waiter.call_and_wait(new)
    except TaskExpired:
        raise InternalError("The call was not finished in time") from None
    return Answer(progress.payload or b"{}", progress.outcome or "result")


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
        "protocol": PROTOCOL_VERSION,
        "principal": orjson.dumps(call.principal.to_json()),
        "poll_interval": settings.poll_interval,
        "max_attempts": tool.attempts_for(as_task=as_task, default=settings.max_attempts),
    }
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
