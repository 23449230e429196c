"""What a client declared that it can do, by names with dots: ``sampling``, ``elicitation.url``, ``sampling.tools``."""

from collections.abc import Mapping
from typing import Any

ASKABLE = (
    "elicitation.form",
    "elicitation.url",
    "sampling",
    "sampling.tools",
    "sampling.context",
    "tasks.requests.elicitation.create",
    "tasks.requests.sampling.createMessage",
)
CANCEL_TASKS = "tasks.cancel"


def augmentable(method: str) -> str:
    """What a client declares that runs requests of ``method`` as tasks (T-02)."""
    return f"tasks.requests.{method.replace('/', '.')}"


def agreed(capabilities: Mapping[str, Any], *, tasks: bool) -> dict[str, Any]:
    """What a client declared, without tasks where the agreed revision of the protocol has none (L-02, T-03)."""
    return {name: value for name, value in capabilities.items() if tasks or name != "tasks"}


def list_askable(capabilities: Mapping[str, Any]) -> list[str]:
    """What a client can be asked: those of ASKABLE that it declares."""
    return [name for name in ASKABLE if client_supports(capabilities, name)]


def client_supports(capabilities: Mapping[str, Any], name: str) -> bool:
    """Whether ``capabilities``, as ``initialize`` brought them, declare ``name``: only that may be used (L-02, E-01).

    What is declared is an object, also where it is empty (T-104).
    """
    if name == "elicitation.form":
        return _supports_forms(capabilities)
    declared: object = capabilities
    for part in name.split("."):
        declared = declared.get(part) if isinstance(declared, Mapping) else None
    return isinstance(declared, Mapping)


def _supports_forms(capabilities: Mapping[str, Any]) -> bool:
    """Who declares elicitation and names no mode means forms, which were all there was before modes (E-01)."""
    modes = capabilities.get("elicitation")
    return isinstance(modes, Mapping) and (isinstance(modes.get("form"), Mapping) or not modes.keys() & {"form", "url"})
