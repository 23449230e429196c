"""What spoils the checks of ``ops/conform/checks/association.py``."""

from ops.client.stream import Message
from ops.conform.checks import association
from ops.conform.checks.results import RELATED_TASK
from tests.conformance.sabotage import Call, SpoilMessage, spoils_message


def name_the_first(method: str) -> SpoilMessage:
    """Makes all messages of a method name the task that the first of them names."""

    def spoil(call: Call, message: Message) -> Message:
        if message.get("method") == method:
            first = call.memory.setdefault("first", message["params"]["_meta"][RELATED_TASK])
            message["params"]["_meta"][RELATED_TASK] = first
        return message

    spoil.__name__ = "name_the_first"
    return spoil


def leave_meta_out(method: str) -> SpoilMessage:
    """Makes no message of a method name its task."""

    def spoil(call: Call, message: Message) -> Message:
        if message.get("method") == method:
            del message["params"]["_meta"]
        return message

    spoil.__name__ = "leave_meta_out"
    return spoil


for _check, _method in (
    (association.questions_name_their_own_tasks, "elicitation/create"),
    (association.samplings_name_their_own_tasks, "sampling/createMessage"),
    (association.progress_names_its_task, "notifications/progress"),
    (association.log_messages_name_their_tasks, "notifications/message"),
):
    spoils_message(_check, says="names the task")(name_the_first(_method))
    spoils_message(_check, says="names the task")(leave_meta_out(_method))


@spoils_message(association.creation_names_its_task)
def name_nothing(call: Call, message: Message) -> Message:
    if "task" in message.get("result", {}):
        message["result"].pop("_meta", None)
    return message


@spoils_message(association.creation_names_its_task)
def name_something_else(call: Call, message: Message) -> Message:
    if "task" in message.get("result", {}):
        message["result"]["_meta"] = {RELATED_TASK: {"taskId": "another"}}
    return message


def relate(method: str) -> SpoilMessage:
    """Puts related-task where a result says by itself which task it is about."""

    def spoil(call: Call, message: Message) -> Message:
        if call.method == method and "result" in message:
            message["result"]["_meta"] = {RELATED_TASK: {"taskId": "any"}}
        return message

    spoil.__name__ = f"relate_{method.replace('/', '_')}"
    return spoil


for _method in ("tasks/get", "tasks/list", "tasks/cancel"):
    spoils_message(association.no_relation_where_the_task_is_told)(relate(_method))


@spoils_message(association.no_relation_where_the_task_is_told)
def relate_each_listed(call: Call, message: Message) -> Message:
    for task in message.get("result", {}).get("tasks", []):
        task["_meta"] = {RELATED_TASK: {"taskId": task["taskId"]}}
    return message


@spoils_message(association.no_relation_in_status_notifications)
def relate_news(call: Call, message: Message) -> Message:
    if message.get("method") == "notifications/tasks/status":
        message["params"]["_meta"] = {RELATED_TASK: {"taskId": message["params"]["taskId"]}}
    return message
