"""What a deployment may give as RECEIVER_REDACT."""

from typing import Any


def hide(shown: dict[str, Any]) -> dict[str, Any]:
    """Shows arguments and no results."""
    return {"params": shown.get("params")}
