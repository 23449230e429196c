"""Log lines: one event each, with its fields, from this project and from the libraries under it alike."""

import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from structlog.contextvars import bind_contextvars, reset_contextvars
from structlog.typing import EventDict, Processor, WrappedLogger

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


def configure_logs(format: str = "auto") -> None:
    """Sends all log lines to stderr: ``json``, ``console``, or ``auto``: console on a terminal and JSON elsewhere."""
    as_console = format == "console" or (format == "auto" and sys.stderr.isatty())
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=_render(as_console)))
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


@contextmanager
def bound(**fields: object) -> Iterator[None]:
    """Has all log lines of the block carry ``fields``, those of what it starts and of libraries too."""
    tokens = bind_contextvars(**fields)
    try:
        yield
    finally:
        reset_contextvars(**tokens)


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
