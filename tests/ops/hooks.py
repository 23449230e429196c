"""Redaction hooks, by the names that a deployment would give."""

from typing import Any


def hide_reason(shown: dict[str, Any]) -> dict[str, Any]:
    """Hides what the tool was given, and whatever repeats it."""
    return {name: value for name, value in shown.items() if name == "progress_message"}
