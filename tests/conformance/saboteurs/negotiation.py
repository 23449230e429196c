"""What spoils the checks of ``ops/conform/checks/negotiation.py``."""

from ops.client.stream import Message
from ops.conform.checks import negotiation
from tests.conformance.sabotage import Answer, Call, spoils_message, spoils_request

TEXT = {"content": [{"type": "text", "text": "This tool only runs as a task"}], "isError": True}


@spoils_message(negotiation.tasks_are_declared, says="a call became a task")
def declare_no_tasks(call: Call, message: Message) -> Message:
    if call.method == "initialize":
        message["result"]["capabilities"].pop("tasks")
    return message


@spoils_message(negotiation.tasks_are_declared, says="as tasks are not declared")
def declare_and_make_no_tasks(call: Call, message: Message) -> Message:
    if call.method == "tools/call":
        return call_for_nothing(call)
    if call.method == "initialize":
        message["result"]["capabilities"].pop("tasks")
    return message


@spoils_message(negotiation.task_is_ignored_before_tasks)
def refuse_task(call: Call, message: Message) -> Message:
    return call_for_nothing(call) if "task" in call.params else message


@spoils_request(negotiation.list_is_where_declared)
def have_no_list(call: Call) -> Answer | None:
    return call.error(-32601) if call.method == "tasks/list" else None


@spoils_message(negotiation.list_is_where_declared)
def declare_no_list(call: Call, message: Message) -> Message:
    return without(call, message, "list")


@spoils_request(negotiation.methods_before_tasks, says="tasks/cancel")
def have_cancel_always(call: Call) -> Answer | None:
    return call.error(-32602) if call.method == "tasks/cancel" else None


@spoils_request(negotiation.methods_before_tasks, says="tasks/list")
def have_list_always(call: Call) -> Answer | None:
    return call.result({"tasks": []}) if call.method == "tasks/list" else None


@spoils_request(negotiation.cancel_is_where_declared)
def have_no_cancel(call: Call) -> Answer | None:
    return call.error(-32601) if call.method == "tasks/cancel" else None


@spoils_message(negotiation.cancel_is_where_declared)
def declare_no_cancel(call: Call, message: Message) -> Message:
    return without(call, message, "cancel")


@spoils_request(negotiation.other_requests_ignore_task, says="tools/list")
def make_tasks_of_all(call: Call) -> Answer | None:
    wanted = call.method == "tools/list" and "task" in call.params
    return call.result({"task": {"taskId": "t", "status": "working"}}) if wanted else None


@spoils_request(negotiation.other_requests_ignore_task, says="ping")
def refuse_task_of_ping(call: Call) -> Answer | None:
    return call.error(-32602) if call.method == "ping" and "task" in call.params else None


@spoils_request(negotiation.forbidden_as_task)
def overlook_task(call: Call) -> None:
    if "task" in call.params:
        call.message = call.message | {"params": call.params | {"task": None}}


@spoils_request(negotiation.forbidden_plainly)
def forbid_it_all(call: Call) -> Answer | None:
    return call.error(-32601) if call.method == "tools/call" else None


@spoils_request(negotiation.required_plainly, says="isError")
def say_it_in_a_result(call: Call) -> Answer | None:
    return call.result(TEXT) if call.method == "tools/call" else None


@spoils_request(negotiation.required_plainly, says="-32600")
def say_invalid_request(call: Call) -> Answer | None:
    return call.error(-32600) if call.method == "tools/call" and call.node == 1 else None


@spoils_request(negotiation.required_as_task)
def lose_task(call: Call) -> Answer | None:
    return call.error(-32601) if call.method == "tools/call" else None


@spoils_request(negotiation.optional_plainly)
def require_task(call: Call) -> Answer | None:
    return call.error(-32601) if call.method == "tools/call" else None


@spoils_request(negotiation.bad_arguments_as_task, says="CreateTaskResult")
def answer_as_if_plain(call: Call) -> Answer | None:
    return call.result(TEXT) if call.method == "tools/call" else None


@spoils_request(negotiation.bad_arguments_as_task, says="-32603")
def say_internal_error(call: Call) -> Answer | None:
    return call.error(-32603) if call.method == "tools/call" else None


def call_for_nothing(call: Call) -> Message:
    return {"jsonrpc": "2.0", "id": call.message["id"], "error": {"code": -32602, "message": "no task"}}


def without(call: Call, message: Message, name: str) -> Message:
    if call.method == "initialize":
        message["result"]["capabilities"]["tasks"].pop(name)
    return message
