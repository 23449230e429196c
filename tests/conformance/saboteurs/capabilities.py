"""What spoils the checks of ``ops/conform/checks/capabilities.py``."""

from ops.conform.checks import capabilities
from tests.conformance.sabotage import Answer, Call, spoils_request


@spoils_request(capabilities.elicits_only_where_declared)
async def elicit_in_any_case(call: Call) -> Answer | None:
    return await ask_first(call, "elicitation/create") if call.method == "tools/call" else None


@spoils_request(capabilities.samples_only_where_declared)
async def sample_in_any_case(call: Call) -> Answer | None:
    return await ask_first(call, "sampling/createMessage") if call.method == "tasks/result" else None


async def ask_first(call: Call, method: str) -> Answer:
    """The server's answer, behind a request of its own."""
    return Answer.stream({"jsonrpc": "2.0", "id": "asked", "method": method, "params": {}}, await call.forward())
