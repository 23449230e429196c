"""The methods of the server, one module a family."""

from receiver.dispatch import Handler
from receiver.methods.completion import complete
from receiver.methods.handshake import initialize, ping, set_log_level
from receiver.methods.prompts import get_prompt, list_prompts
from receiver.methods.resources import list_resources, list_templates, read_resource
from receiver.methods.services import Services
from receiver.methods.subscriptions import subscribe, unsubscribe
from receiver.methods.tasks import cancel_task, get_task, get_task_result, list_tasks
from receiver.methods.tools import call_tool, list_tools

HANDLERS: dict[str, Handler[Services]] = {
    "initialize": initialize,
    "ping": ping,
    "logging/setLevel": set_log_level,
    "tools/list": list_tools,
    "tools/call": call_tool,
    "resources/list": list_resources,
    "resources/templates/list": list_templates,
    "resources/read": read_resource,
    "resources/subscribe": subscribe,
    "resources/unsubscribe": unsubscribe,
    "prompts/list": list_prompts,
    "prompts/get": get_prompt,
    "completion/complete": complete,
    "tasks/get": get_task,
    "tasks/result": get_task_result,
    "tasks/list": list_tasks,
    "tasks/cancel": cancel_task,
}
