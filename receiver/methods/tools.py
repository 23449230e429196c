"""``tools/list`` and ``tools/call``: a tool is run as a task, or plainly on the same way."""

from receiver.dispatch import Answer, Later
from receiver.methods.calls import call_plainly, create_run, new_run, read_arguments
from receiver.methods.listing import list_page
from receiver.methods.services import ServerCall, session_of
from receiver.protocol.errors import InvalidParams, MethodNotFound
from receiver.protocol.handshake import PROTOCOL_VERSION, render_created
from receiver.protocol.task import Task
from receiver.protocol.task_id import new_task_id
from receiver.protocol.ttl import grant_ttl, read_ttl
from receiver.telemetry import audit, metrics
from receiver.tools.tool import Tool


async def list_tools(call: ServerCall) -> Answer:
    """The tools."""
    return await list_page(call, "tools", call.services.app.tools)


async def call_tool(call: ServerCall) -> Answer | Later:
    """Runs a tool: as a task if ``params.task`` is there, else plainly.

    A revision without tasks does not know that member, and it is ignored (T-26).
    """
    tool = _find_tool(call)
    if session_of(call).revision.tasks and call.params.get("task") is not None:
        return await _create_task(call, tool)
    if tool.task == "required":  # T-12
        raise MethodNotFound(_say_what_is_required(call, tool))
    return await call_plainly(call, tool, read_arguments(call))


async def _create_task(call: ServerCall, tool: Tool) -> Answer:
    services = call.services
    if tool.task == "forbidden":  # T-09
        raise MethodNotFound(f"Tool {tool.name!r} can't be run as a task; call it without params.task")
    ttl = grant_ttl(read_ttl(call.params["task"]), services.ttl_bounds, tool.ttl_floor_ms)
    arguments = read_arguments(call)
    tool.bind(arguments)  # refused before any state is written
    new = new_run(call, new_task_id(), tool, arguments, "task", timeout=tool.timeout_ms, ttl=ttl)
    created_at = await create_run(call, new)
    metrics.count_created(tool.name)
    audit.mention("task_created", call.principal, task_id=new.id, tool=tool.name, ttl=ttl)
    task = Task(new.id, "working", None, created_at, created_at, ttl, services.settings.poll_interval)  # T-31
    return Answer(render_created(task, tool.immediate))


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
