"""What spoils the checks of ``ops/conform/checks/getting.py``."""

from ops.conform.checks import getting
from tests.conformance.sabotage import Answer, Call, spoils_request


@spoils_request(getting.get_without_stream)
async def stream_it(call: Call) -> Answer | None:
    return Answer.stream(await call.forward()) if call.method == "tasks/get" else None


@spoils_request(getting.unknown_task)
def know_every_task(call: Call) -> Answer | None:
    return call.error(-32603) if call.method == "tasks/cancel" else None
