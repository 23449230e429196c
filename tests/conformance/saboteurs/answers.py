"""What spoils the checks of ``ops/conform/checks/answers.py``."""

from ops.conform.checks import answers
from tests.conformance.sabotage import Answer, Call, spoils_request

ALICE = "Bearer alice-token"


@spoils_request(answers.answered_by_another_user, says="accept red")
def take_bob_for_alice(call: Call) -> None:
    if call.headers["authorization"] == ALICE and call.method:
        call.memory["session"] = call.headers.get("mcp-session-id")
    elif _is_answer(call):
        call.headers |= {"authorization": ALICE, "mcp-session-id": call.memory["session"]}


@spoils_request(answers.answered_by_another_user, says="accept red")
def take_the_session_for_a_credential(call: Call) -> None:
    if _is_answer(call) and call.headers["mcp-session-id"] in call.memory:
        call.headers["authorization"] = ALICE
    elif call.headers["authorization"] == ALICE:
        call.memory[call.headers.get("mcp-session-id", "")] = True


@spoils_request(answers.answered_by_another_session, says="accept red")
def forget_who_was_asked(call: Call) -> None:
    if call.method == "tools/call":
        call.memory["session"] = call.headers["mcp-session-id"]
    if _is_answer(call):
        call.headers["mcp-session-id"] = call.memory["session"]


@spoils_request(answers.answered_on_the_other_node, patience=3)
def have_one_node_alone(call: Call) -> Answer | None:
    return Answer(202) if _is_answer(call) and call.node == 1 else None


def _is_answer(call: Call) -> bool:
    return call.verb == "POST" and "result" in call.message
