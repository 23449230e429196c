"""Log lines: one event each, with its fields, from this project and from the libraries under it alike."""

import logging
import sys

import structlog
from structlog.typing import Processor

# INFO lines of arq tell the arguments of each job, those of httpx2 each of its requests.
QUIET = (
    "arq",
    "asyncio",
    "httptools",
    "httpcore2",
    "httpx2",
    "uvicorn.access",
)


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


def _render(as_console: bool) -> list[Processor]:
    strip = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    if as_console:
        return [strip, structlog.dev.ConsoleRenderer()]
    return [strip, structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
