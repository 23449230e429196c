"""A server that makes long-running MCP tools durable."""

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
