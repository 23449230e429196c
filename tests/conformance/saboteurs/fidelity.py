"""What spoils the checks of ``ops/conform/checks/fidelity.py``."""

import json

from ops.client.stream import Message
from ops.conform.checks import fidelity
from ops.conform.checks.results import RELATED_TASK
from tests.conformance.sabotage import Answer, Call, spoils_message, spoils_request
from tests.conformance.shown import is_outcome


@spoils_message(fidelity.result_is_a_tool_result, says="`content`")
def give_a_text(call: Call, message: Message) -> Message:
    return change(call, message, content="a text")


@spoils_message(fidelity.result_is_a_tool_result, says="not a task")
def add_the_task(call: Call, message: Message) -> Message:
    return change(call, message, status="completed")


@spoils_message(fidelity.same_blocks_as_plain)
def keep_the_text_alone(call: Call, message: Message) -> Message:
    if is_outcome(call, message):
        del message["result"]["content"][1:]
    return message


@spoils_message(fidelity.same_text_as_plain)
def write_ascii(call: Call, message: Message) -> Message:
    if is_outcome(call, message):
        text = message["result"]["content"][0]["text"]
        message["result"]["content"][0]["text"] = text.encode("ascii", "replace").decode()
    return message


@spoils_message(fidelity.same_failure_as_plain, says="the plain call")
def call_it_a_success(call: Call, message: Message) -> Message:
    return change(call, message, isError=False)


@spoils_message(fidelity.same_failure_as_plain, says="success response")
def call_both_a_success(call: Call, message: Message) -> Message:
    if "content" in message.get("result", {}):
        message["result"]["isError"] = False
    return message


@spoils_message(fidelity.same_error_as_plain)
def leave_data_out(call: Call, message: Message) -> Message:
    if call.method == "tasks/result" and "error" in message:
        message["error"].pop("data")
    return message


@spoils_message(fidelity.same_meta_as_plain, says="the plain call")
def name_the_task_alone(call: Call, message: Message) -> Message:
    if is_outcome(call, message):
        message["result"]["_meta"].pop("example.org/conform")
    return message


@spoils_message(fidelity.same_meta_as_plain, says=f"`_meta` with {RELATED_TASK}")
def leave_the_task_out(call: Call, message: Message) -> Message:
    if is_outcome(call, message):
        message["result"]["_meta"].pop(RELATED_TASK)
    return message


@spoils_request(fidelity.members_are_there_once)
async def write_meta_twice(call: Call) -> Answer | None:
    if call.method != "tasks/result":
        return None
    text = json.dumps(await call.forward()).replace('"_meta":', '"_meta": {}, "_meta":', 1)
    return Answer(200, {"content-type": "application/json"}, text.encode())


def change(call: Call, message: Message, **members: object) -> Message:
    if is_outcome(call, message):
        message["result"] |= members
    return message
