"""``resources/subscribe`` and ``resources/unsubscribe``: both may be asked for again, and answer the same."""

from receiver.dispatch import Answer
from receiver.methods.resources import require_resources
from receiver.methods.services import ServerCall, admission_of
from receiver.protocol.errors import InvalidParams, ResourceNotFound

URI_LENGTH_LIMIT = 2048  # a key is named after it


async def subscribe(call: ServerCall) -> Answer:
    """Has the session told of each update of a resource, on its GET streams."""
    require_resources(call)
    uri, services, admission = _read_uri(call), call.services, admission_of(call)
    if services.app.resources.find(uri) is None:
        await services.sessions.touch(admission)
        raise ResourceNotFound(uri)
    await services.subscriptions.subscribe(admission, uri)
    return Answer(b"{}")


async def unsubscribe(call: ServerCall) -> Answer:
    """Has the session told no more, also where the resource is there no longer, or never was."""
    require_resources(call)
    await call.services.subscriptions.unsubscribe(admission_of(call), _read_uri(call))
    return Answer(b"{}")


def _read_uri(call: ServerCall) -> str:
    uri = call.params.get("uri")
    if not isinstance(uri, str) or not 0 < len(uri) <= URI_LENGTH_LIMIT:
        raise InvalidParams(f"params.uri must be a string of {URI_LENGTH_LIMIT} characters at most")
    return uri
