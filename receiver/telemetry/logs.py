"""Log lines: one event each, with its fields, from this project and from the libraries under it alike."""

import logging
import re
import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from types import TracebackType

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

OURS = ("ops", "receiver", "workers")

# INFO lines of arq tell the arguments of each job, those of httpx2 each of its requests.
QUIET = (
    "arq",
    "asyncio",
    "httptools",
    "httpcore2",
    "httpx2",
    "uvicorn.access",
)

# What a terminal obeys, all but tab and line feed; what turns the order of letters around; and halves of characters.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


Fields = Mapping[str, object] | Callable[[], Mapping[str, object]]

_bound: ContextVar[tuple[Fields, ...]] = ContextVar("log_fields", default=())


def configure_logs(format: str = "auto", level: str = "info") -> None:
    """Sends all log lines to stderr: ``json``, ``console``, or ``auto``: console on a terminal and JSON elsewhere.

    Our own are left out below ``level``; those of libraries below that and ``info``.
    """
    lowest = logging.getLevelNamesMapping()[level.upper()]
    as_console = format == "console" or (format == "auto" and sys.stderr.isatty())
    shared: list[Processor] = [
        merge_bound,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(lowest),  # what is left out costs next to nothing
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=_render(as_console)))
    logging.basicConfig(handlers=[handler], level=max(lowest, logging.INFO), force=True)
    for name in OURS:
        logging.getLogger(name).setLevel(lowest)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


class Bound:
    """While it is entered, all log lines carry ``fields``; a function is asked for them when there is a line."""

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self._token: Token[tuple[Fields, ...]] | None = None

    def __enter__(self) -> None:
        self._token = _bound.set((*_bound.get(), self._fields))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._token is not None:
            _bound.reset(self._token)


def bound(**fields: object) -> Bound:
    """Has all log lines of the block carry ``fields``, those of what it starts and of libraries too."""
    return Bound(fields)


def bind(**fields: object) -> None:
    """The same from here on, for all that this asyncio task, or this thread, does."""
    _bound.set((*_bound.get(), fields))


def merge_bound(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
    """Adds what is bound to a line."""
    merged: dict[str, object] = {}
    for fields in _bound.get():
        merged.update(fields() if callable(fields) else fields)
    return {**merged, **event}


def _render(as_console: bool) -> list[Processor]:
    strip = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    if as_console:
        return [strip, _escape, structlog.dev.ConsoleRenderer()]
    return [strip, structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]


def _escape(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
    """A terminal would obey what a client wrote (F26)."""
    return {field: escape_text(value) if isinstance(value, str) else value for field, value in event.items()}


def escape_text(text: str) -> str:
    """``text`` with nothing in it that a terminal obeys: what others wrote may go to one so."""
    return _CONTROL.sub(lambda found: ascii(found.group())[1:-1], text)
