"""A server that makes long-running MCP tools durable.

What it exports is loaded when it is first asked for: a command that only looks into the store does without.
"""

import importlib
import typing

if typing.TYPE_CHECKING:
    from receiver.context import Context
    from receiver.isolation import Isolation
    from receiver.principal import Principal
    from receiver.protocol.errors import (
        ReceiverError,
        ReplayDiverged,
        ResourceNotFound,
        Retry,
        ToolError,
        UrlElicitationRequired,
    )
    from receiver.receiver import Receiver

__version__ = "0.1.0"

__all__ = [
    "Context",
    "Isolation",
    "Principal",
    "Receiver",
    "ReceiverError",
    "ReplayDiverged",
    "ResourceNotFound",
    "Retry",
    "ToolError",
    "UrlElicitationRequired",
    "__version__",
]

_HOMES = {"Context": "context", "Isolation": "isolation", "Principal": "principal", "Receiver": "receiver"}


def __getattr__(name: str) -> typing.Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES.get(name, 'protocol.errors')}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
