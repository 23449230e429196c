"""The methods of the server, one module a family."""

from receiver.dispatch import Handler
from receiver.methods.handshake import initialize, ping, set_log_level
from receiver.methods.services import Services
from receiver.methods.tasks import cancel_task, get_task, get_task_result, list_tasks
from receiver.methods.tools import call_tool, list_tools

HANDLERS: dict[str, Handler[Services]] = {
    "initialize": initialize,
    "ping": ping,
    "logging/setLevel": set_log_level,
    "tools/list": list_tools,
    "tools/call": call_tool,
    "tasks/get": get_task,
    "tasks/result": get_task_result,
    "tasks/list": list_tasks,
    "tasks/cancel": cancel_task,
}
