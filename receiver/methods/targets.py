"""What a request is about."""

from receiver.dispatch import Dispatcher
from receiver.methods.services import Services
from receiver.protocol.jsonrpc import Request
from receiver.receiver import Receiver
from receiver.telemetry.target import OTHER, Target


def find_target(dispatcher: Dispatcher[Services], request: Request) -> Target:
    """The method, and what of the app it names; only what is known, of all that a client may write."""
    if request.method not in dispatcher:
        return Target(OTHER)
    named = (request.params or {}).get("uri" if request.method.startswith("resources/") else "name")
    key = _find_key(dispatcher.services.app, request.method, named) if isinstance(named, str) else None
    return Target(request.method, key or "")


def _find_key(app: Receiver, method: str, named: str) -> str | None:
    match method:
        case "tools/call":
            return named if app.tools.get(named) else None
        case "prompts/get":
            return named if app.prompts.get(named) else None
        case "resources/read" | "resources/subscribe" | "resources/unsubscribe":
            found = app.resources.find(named)
            return None if found is None else found[0].key
    return None
