"""What spoils the checks of ``ops/conform/checks/creation.py``."""

import asyncio

from ops.client.stream import Message
from ops.conform.checks import creation
from tests.conformance.sabotage import Call, spoils_message, spoils_request
from tests.conformance.shown import show_as


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


@spoils_request(creation.created_before_the_work, patience=2, says="the answer to POST tools/call")
async def work_first(call: Call) -> None:
    if call.method == "tools/call":
        await asyncio.Event().wait()


@spoils_message(creation.created_before_the_work, says="at work")
def be_done_already(call: Call, message: Message) -> Message:
    return show_as(call, message, "tasks/get", status="completed")


@spoils_message(creation.immediate_response_is_text)
def say_blocks(call: Call, message: Message) -> Message:
    if call.method == "tools/call":
        message["result"]["_meta"][creation.IMMEDIATE_RESPONSE] = [{"type": "text", "text": "Wait."}]
    return message


@spoils_request(creation.task_is_no_object)
def take_anything_for_a_task(call: Call) -> None:
    if call.method == "tools/call":
        call.message = call.message | {"params": call.params | {"task": {}}}


@spoils_message(creation.id_is_a_string, says="tools/call")
def number_tasks(call: Call, message: Message) -> Message:
    return show_as(call, message, "tools/call", taskId=7)


@spoils_message(creation.id_is_a_string, says="tasks/get")
def rename_on_the_other_node(call: Call, message: Message) -> Message:
    return show_as(call, message, "tasks/get", node=1, taskId="7")


@spoils_message(creation.id_is_the_receivers)
def take_the_id_that_came(call: Call, message: Message) -> Message:
    return show_as(call, message, "tools/call", taskId=call.params.get("taskId"))


@spoils_message(creation.ids_are_unique)
def derive_ids_from_requests(call: Call, message: Message) -> Message:
    return show_as(call, message, "tools/call", taskId=f"task-{message.get('id')}")


@spoils_message(creation.begins_as_working_in_a_crowd)
def say_queued_when_busy(call: Call, message: Message) -> Message:
    created = call.memory["created"] = call.memory.get("created", 0) + (call.method == "tools/call")
    return show_as(call, message, "tools/call", status="queued") if created > creation.MANY else message
