"""The hints that an author gives about a tool's behaviour."""

from collections.abc import Mapping
from typing import Any

from mcp_types import ToolAnnotations

HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def written_annotations(annotations: Mapping[str, Any] | ToolAnnotations | None) -> dict[str, Any]:
    """``annotations`` by their wire names, and only those that the author wrote: a default is no promise.

    TypeError for a name that the protocol does not have (the hints decide how often a tool is run again, so a
    misspelt one is no small matter) and for a value of the wrong type.
    """
    if annotations is None:
        return {}
    if isinstance(annotations, ToolAnnotations):
        return annotations.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)
    for name, value in annotations.items():
        _require_hint(name, value)
    return dict(annotations)


def _require_hint(name: str, value: Any) -> None:
    if name == "title":
        expected: type = str
    elif name in HINTS:
        expected = bool
    else:
        raise TypeError(f"unknown annotation {name!r}; there are title, {', '.join(HINTS)}")
    if not isinstance(value, expected):
        raise TypeError(f"annotation {name} must be a {expected.__name__}, not {value!r}")
