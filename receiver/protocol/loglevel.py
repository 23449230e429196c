"""The levels of log messages that a server sends, and which of them a client wants (RFC 5424)."""

from typing import Literal, get_args

from receiver.protocol.errors import InvalidParams

LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]

LOG_LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)  # the least severe first

_SEVERITY = {level: severity for severity, level in enumerate(LOG_LEVELS)}


def read_level(level: object) -> LogLevel:
    """``params.level`` of ``logging/setLevel``; InvalidParams for all but the eight levels (L-09)."""
    if isinstance(level, str) and level in _SEVERITY:
        return level
    raise InvalidParams(f"params.level must be one of {', '.join(LOG_LEVELS)}")


def rank_of(level: LogLevel) -> int:
    """How severe a level is: the higher, the more."""
    return _SEVERITY[level]
