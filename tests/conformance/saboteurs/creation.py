"""What spoils the checks of ``ops/conform/checks/creation.py``."""

from ops.conform.checks import creation
from ops.conform.stream import Message
from tests.conformance.sabotage import Call, spoils_message


@spoils_message(creation.begins_as_working)
def say_queued(call: Call, message: Message) -> Message:
    if "task" in message.get("result", {}):
        message["result"]["task"]["status"] = "queued"
    return message


@spoils_message(creation.create_task_result)
def add_content(call: Call, message: Message) -> Message:
    if "task" in message.get("result", {}):
        message["result"]["content"] = []
    return message


@spoils_message(creation.create_task_result)
def name_no_id(call: Call, message: Message) -> Message:
    if "task" in message.get("result", {}):
        del message["result"]["task"]["taskId"]
    return message
