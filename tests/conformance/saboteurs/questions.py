"""What spoils the checks of ``ops/conform/checks/questions.py``."""

from ops.client.stream import Message
from ops.conform.checks import questions
from tests.conformance.sabotage import Call, spoils_message

ASKED = "elicitation/create"


@spoils_message(questions.asked_once, says="came on more than one")
def broadcast(call: Call, message: Message) -> list[Message]:
    """Each stream repeats what the others have carried."""
    asked: list[Message] = call.memory.setdefault("asked", [])
    if message.get("method") == ASKED:
        asked.append(message)
        return asked
    return [*asked, message] if call.method == "tasks/result" else [message]


@spoils_message(questions.asked_in_turn, says="was not used before")
def use_one_id(call: Call, message: Message) -> Message:
    if message.get("method") == ASKED:
        message["id"] = call.memory.setdefault("id", message["id"])
    return message


@spoils_message(questions.asked_in_turn, says="both name the task")
def name_the_task_once(call: Call, message: Message) -> Message:
    if message.get("method") == ASKED and "_meta" in message["params"]:
        if "asked" in call.memory:
            del message["params"]["_meta"]
        call.memory["asked"] = True
    return message


@spoils_message(questions.asked_in_turn, says="`accept green`")
def keep_the_first_answer(call: Call, message: Message) -> Message:
    if (message.get("result", {}).get("content") or [{}])[0].get("text") == "accept green":
        message["result"]["content"][0]["text"] = "accept blue"
    return message
