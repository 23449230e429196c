"""What spoils the checks of ``ops/conform/checks/results.py``."""

import json

from ops.client.stream import Message
from ops.conform.checks import results
from tests.conformance.sabotage import Answer, Call, spoils_message, spoils_request
from tests.conformance.shown import is_outcome


@spoils_request(results.blocks_until_terminal)
def answer_early(call: Call) -> Answer | None:
    return call.result({"content": []}) if call.method == "tasks/result" else None


@spoils_message(results.same_as_plain)
def say_more(call: Call, message: Message) -> Message:
    if is_outcome(call, message):
        message["result"]["content"].append({"type": "text", "text": "done"})
    return message


@spoils_message(results.names_its_task)
def leave_meta_out(call: Call, message: Message) -> Message:
    if is_outcome(call, message):
        message["result"].pop("_meta")
    return message


@spoils_message(results.failure_names_its_task)
def leave_meta_out_of_failures(call: Call, message: Message) -> Message:
    if message.get("result", {}).get("isError"):
        message["result"].pop("_meta", None)
    return message


@spoils_message(results.own_meta_is_kept, says="its own")
def replace_meta(call: Call, message: Message) -> Message:
    if call.method == "tasks/result":
        message["result"]["_meta"] = {results.RELATED_TASK: {"taskId": call.params["taskId"]}}
    return message


@spoils_message(results.own_meta_is_kept, says="that names the task")
def keep_meta_alone(call: Call, message: Message) -> Message:
    if call.method == "tasks/result":
        del message["result"]["_meta"][results.RELATED_TASK]
    return message


@spoils_request(results.members_come_once)
async def splice_a_second_meta(call: Call) -> Answer | None:
    if call.method != "tasks/result":
        return None
    body = json.dumps(await call.forward()).replace('"result": {', '"result": {"_meta": {}, ')
    return Answer(200, {"content-type": "application/json"}, body.encode())
