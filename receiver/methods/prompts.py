"""``prompts/list`` and ``prompts/get``."""

from receiver.dispatch import Answer, Later
from receiver.methods.calls import call_plainly, read_arguments
from receiver.methods.listing import list_page
from receiver.methods.services import ServerCall
from receiver.protocol.errors import InvalidParams, MethodNotFound


async def list_prompts(call: ServerCall) -> Answer:
    """The prompts and their arguments."""
    _require_prompts(call)
    return await list_page(call, "prompts", call.services.app.prompts)


async def get_prompt(call: ServerCall) -> Answer | Later:
    """The messages of a prompt, made by its function."""
    _require_prompts(call)
    name = call.params.get("name")
    prompt = call.services.app.prompts.get(name) if isinstance(name, str) else None
    if prompt is None:
        raise InvalidParams(f"Unknown prompt: {name}")
    return await call_plainly(call, prompt, read_arguments(call))


def _require_prompts(call: ServerCall) -> None:
    if not len(call.services.app.prompts):  # not declared, not there
        raise MethodNotFound(f"Method not found: {call.method}")
