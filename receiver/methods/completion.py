"""``completion/complete``."""

from collections.abc import Mapping
from typing import Any

import orjson

from receiver.completion import Completed, render_values
from receiver.dispatch import Answer, Later
from receiver.methods.calls import call_plainly
from receiver.methods.services import ServerCall, admission_of
from receiver.prompts.registry import Prompts
from receiver.protocol.errors import InvalidParams, MethodNotFound
from receiver.receiver import Receiver
from receiver.resources.registry import Resources


async def complete(call: ServerCall) -> Answer | Later:
    """What an argument may be: found by the author's function, or among the choices that its annotation lists."""
    app = call.services.app
    if not app.completes:  # not declared, not there
        raise MethodNotFound(f"Method not found: {call.method}")
    completed = _find_completed(app, _read_object(call.params, "ref"))
    argument = _read_object(call.params, "argument")
    name, value = argument.get("name"), argument.get("value")
    if not isinstance(value, str):
        raise InvalidParams("params.argument.value must be a string")
    if name not in completed.parameters.names:
        raise InvalidParams(f"Unknown argument: {name}")
    arguments = _read_context(call.params)
    completion = app.completions.find(completed.key, name)
    if completion is not None:
        return await call_plainly(call, completion, {"value": value, "arguments": arguments})
    await call.services.sessions.touch(admission_of(call))
    choices = [choice for choice in completed.parameters.choices(name) if choice.startswith(value)]
    return Answer(orjson.dumps(render_values(choices)))


def _find_completed(app: Receiver, ref: Mapping[str, Any]) -> Completed:
    """The prompt, resource or template whose argument is completed."""
    registries: dict[str, tuple[str, Prompts | Resources]] = {
        "ref/prompt": ("name", app.prompts),
        "ref/resource": ("uri", app.resources),
    }
    kind = ref.get("type")
    if not isinstance(kind, str) or kind not in registries:
        raise InvalidParams(f"params.ref.type must be one of {', '.join(registries)}")
    member, registry = registries[kind]
    key = ref.get(member)
    completed = registry.get(key) if isinstance(key, str) else None
    if completed is None:
        raise InvalidParams(f"Unknown {kind.removeprefix('ref/')}: {key}")
    return completed


def _read_context(params: Mapping[str, Any]) -> dict[str, str]:
    """The arguments that are known already."""
    arguments = _read_object(params, "context", {}).get("arguments", {})
    if not isinstance(arguments, dict) or not all(isinstance(value, str) for value in arguments.values()):
        raise InvalidParams("params.context.arguments must be an object of strings")
    return arguments


def _read_object(params: Mapping[str, Any], name: str, default: Any = None) -> dict[str, Any]:
    value = params.get(name, default)
    if not isinstance(value, dict):
        raise InvalidParams(f"params.{name} must be an object")
    return value
