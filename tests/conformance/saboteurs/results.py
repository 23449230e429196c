"""What spoils the checks of ``ops/conform/checks/results.py``."""

from ops.conform.checks import results
from ops.conform.stream import Message
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
