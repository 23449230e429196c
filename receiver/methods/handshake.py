"""``initialize``, ``ping`` and ``logging/setLevel``."""

from typing import Any

from receiver.dispatch import Answer
from receiver.methods.services import ServerCall, admission_of
from receiver.protocol.capability import agreed
from receiver.protocol.errors import InvalidParams, InvalidRequest
from receiver.protocol.handshake import REVISIONS, negotiate_version, render_initialize, server_capabilities
from receiver.protocol.loglevel import read_level
from receiver.session import Session, new_session_id


async def initialize(call: ServerCall) -> Answer:
    """Begins a session, known to every node and bound to its principal."""
    if call.session is not None:
        raise InvalidRequest("This session is initialized already")
    asked = call.params.get("protocolVersion")
    if not isinstance(asked, str):
        raise InvalidParams("params.protocolVersion must be a string")
    services, app = call.services, call.services.app
    revision = REVISIONS[negotiate_version(asked)]  # L-01
    capabilities = agreed(_read_object(call, "capabilities"), tasks=revision.tasks)
    session = Session(new_session_id(), call.principal.owner, revision, capabilities)
    await services.sessions.start(session, _read_object(call, "clientInfo"))
    result = render_initialize(
        revision=revision,
        capabilities=server_capabilities(
            revision,
            tasks_list=services.identifies,  # T-88
            resources=len(app.resources) > 0,
            prompts=len(app.prompts) > 0,
            completions=app.completes,
        ),
        name=app.name,
        version=app.version,
        title=app.title,
        icons=app.icons,
        website_url=app.website_url,
        instructions=app.instructions,
    )
    return Answer(result, session=session)


async def ping(call: ServerCall) -> Answer:
    """Answers at once, whatever else is going on (L-04)."""
    await call.services.sessions.touch(admission_of(call))
    return Answer(b"{}")


async def set_log_level(call: ServerCall) -> Answer:
    """Has log messages below a level left out (L-09)."""
    level = read_level(call.params.get("level"))
    await call.services.sessions.set_log_level(admission_of(call), level)
    return Answer(b"{}")


def _read_object(call: ServerCall, name: str) -> dict[str, Any]:
    value = call.params.get(name, {})
    if not isinstance(value, dict):
        raise InvalidParams(f"params.{name} must be an object")
    return value
