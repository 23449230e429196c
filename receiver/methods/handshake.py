"""``initialize`` and ``ping``."""

from receiver.dispatch import Answer
from receiver.methods.services import ServerCall
from receiver.protocol.errors import InvalidParams
from receiver.protocol.handshake import negotiate_version, render_initialize, server_capabilities


async def initialize(call: ServerCall) -> Answer:
    """Tells a client what this server is and offers.  No session is begun: every request stands for itself."""
    asked = call.params.get("protocolVersion")
    if not isinstance(asked, str):
        raise InvalidParams("params.protocolVersion must be a string")
    app = call.services.app
    result = render_initialize(
        protocol_version=negotiate_version(asked),  # L-01
        capabilities=server_capabilities(tasks_list=call.services.identifies),  # T-88
        name=app.name,
        version=app.version,
        title=app.title,
        instructions=app.instructions,
    )
    return Answer(result)


async def ping(call: ServerCall) -> Answer:
    """Answers at once, whatever else is going on (L-04)."""
    return Answer(b"{}")
