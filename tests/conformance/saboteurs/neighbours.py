"""What spoils the checks of ``ops/conform/checks/neighbours.py``."""

from ops.conform.checks import neighbours
from tests.conformance.sabotage import Answer, Call, spoils_request


@spoils_request(neighbours.end_of_a_session_leaves_others, says="CreateTaskResult")
def shut_down_with_the_session(call: Call) -> Answer | None:
    call.memory["ended"] = call.memory.get("ended") or call.verb == "DELETE"
    is_creation = call.method == "tools/call" and call.memory["ended"]
    return call.result({"content": [], "isError": True}) if is_creation else None
