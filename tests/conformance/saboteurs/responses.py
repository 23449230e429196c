"""What spoils the checks of ``ops/conform/checks/responses.py``."""

from ops.client.stream import Message
from ops.conform.checks import responses
from tests.conformance.sabotage import Answer, Call, Head, spoils_head, spoils_message, spoils_request
from tests.conformance.saboteurs.isolation import ALICE


def is_answer(call: Call) -> bool:
    """Whether it answers a request of the server's."""
    return call.verb == "POST" and "result" in call.message


@spoils_head(responses.answer_without_body)
def say_ok(call: Call, head: Head) -> None:
    if is_answer(call):
        head.status = 200


@spoils_request(responses.answer_without_body)
def say_more(call: Call) -> Answer | None:
    return Answer(202, body=b"accepted") if is_answer(call) else None


@spoils_request(responses.answer_never_asked_for)
def accept_anything(call: Call) -> Answer | None:
    return Answer(202) if is_answer(call) else None


@spoils_request(responses.answer_never_asked_for, says="HTTP 404")
def give_the_session_up(call: Call) -> Answer | None:
    call.memory["is over"] = call.memory.get("is over") or is_answer(call)
    return Answer(404) if call.memory["is over"] and call.method == "ping" else None


@spoils_request(responses.repeated_answer, says="HTTP 500")
def break_down(call: Call) -> Answer | None:
    if is_answer(call):
        call.memory["answers"] = call.memory.get("answers", 0) + 1
    return Answer(500) if is_answer(call) and call.memory["answers"] == 2 else None


@spoils_message(responses.repeated_answer, says="second question is open")
def take_it_for_the_next_answer(call: Call, message: Message) -> Message:
    if call.method == "tasks/get":
        message["result"]["status"] = "completed"
    return message


@spoils_message(responses.repeated_answer, says="accept red")
def keep_the_repeated_answer(call: Call, message: Message) -> Message:
    if call.method == "tasks/result" and "result" in message:
        message["result"]["content"][0]["text"] = "accept red"
    return message


@spoils_request(responses.answer_of_another_user, says="accept red")
def take_bob_for_alice(call: Call) -> None:
    if call.headers["authorization"] == ALICE:
        call.memory["session"] = call.headers.get("mcp-session-id")
    elif is_answer(call):
        call.headers |= {"authorization": ALICE, "mcp-session-id": call.memory["session"]}
