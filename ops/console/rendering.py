"""Templates to pages."""

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ops.admin.orders import entry_of
from ops.console import formats
from receiver import __version__
from receiver.protocol.lifecycle import STATUSES, TERMINAL

TEMPLATES = Path(__file__).parent / "templates"

_templates = Environment(
    loader=FileSystemLoader(TEMPLATES),
    autoescape=True,  # names, arguments, errors and results are whatever somebody sent
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters |= {
    "number": formats.format_number,
    "span": formats.format_span,
    "time": formats.format_time,
    "size": formats.format_size,
    "value": formats.format_value,
    "short": formats.shorten,
    "detail": formats.format_detail,
}
_templates.tests |= {"digest_of_step": formats.is_digest}
_templates.globals |= {"age": formats.format_age, "statuses": STATUSES, "terminal": TERMINAL, "version": __version__}


def render(request: Request, template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
    """The page that a template makes of ``context``."""
    root = request.scope.get("root_path", "")

    def url(path: str, **words: Any) -> str:
        given = {name: value for name, value in words.items() if value not in (None, "")}
        return f"{root}{path}" + (f"?{urlencode(given, doseq=True)}" if given else "")

    page = _templates.get_template(template).render(
        entry=entry_of(request),
        url=url,
        here=request.url.path.removeprefix(root),
        query=request.url.query,
        environment=request.app.state.desk.settings.environment,
        trace_url=request.app.state.desk.settings.trace_url,
        **context,
    )
    return HTMLResponse(page, status)
