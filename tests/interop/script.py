"""What the scripts of Python clients share: their steps, each told as a line of JSON."""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from mcp import McpError
from pydantic import BaseModel

Take = Callable[[], Awaitable[dict[str, Any]]]


async def tell(steps: Mapping[str, Take]) -> None:
    """Takes one step after the other, and prints what came of it."""
    for name, take in steps.items():
        print(json.dumps({"step": name, **await take()}, separators=(",", ":"), default=_plainly), flush=True)
    logging.disable()  # a message that comes while a session of the SDK closes is an error to its log


async def failure_of(awaited: Awaitable[Any]) -> dict[str, Any]:
    """The error that the server answered with."""
    try:
        return {"unexpected": await awaited}
    except McpError as error:
        return {"code": error.error.code, "message": error.error.message}


def _plainly(value: object) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return str(value)
