"""What spoils the checks of ``ops/conform/checks/isolation.py``."""

from ops.conform.checks import isolation
from tests.conformance.sabotage import Call, spoils_request

ALICE = "Bearer alice-token"


@spoils_request(isolation.foreign_task_is_refused, says='"status": "working"')
def take_bob_for_alice(call: Call) -> None:
    if call.headers["authorization"] == ALICE:
        call.memory["session"] = call.headers.get("mcp-session-id")
    elif call.method == "tasks/get":
        call.headers |= {"authorization": ALICE, "mcp-session-id": call.memory["session"]}
