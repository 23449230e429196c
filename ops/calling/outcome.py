"""What came of a call, its exit code, and how it is printed.

0    completed
1    the tool failed
2    the call can't be made: a wrong word on the command line, or a server that refuses the client
3    cancelled
4    the task expired, or was never there
5    the server can't be reached
130  interrupted; a task goes on
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from receiver.protocol.errors import UrlElicitationRequired
from receiver.telemetry.logs import escape_text

COMPLETED, FAILED, REFUSED, CANCELLED, GONE, UNREACHABLE, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
CODES = {"completed": COMPLETED, "failed": FAILED, "cancelled": CANCELLED, "not_found": GONE}


class Ended(Exception):
    """The call ends here without an outcome: its exit code, and one line that says why."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Outcome:
    """``status`` is one of CODES.  ``result`` is that of the tool, ``error`` a JSON-RPC error; one may be there."""

    status: str
    task_id: str | None = None
    result: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None

    @property
    def code(self) -> int:
        """The exit code."""
        return CODES[self.status]

    def to_json(self) -> str:
        """One object for scripts: ``status``, ``taskId``, and ``result`` or ``error`` as the server sent them."""
        shown = {"status": self.status, "taskId": self.task_id, "result": self.result, "error": self.error}
        return json.dumps({name: value for name, value in shown.items() if value is not None or name == "taskId"})

    def to_text(self) -> str:
        """For people."""
        lines = [] if self.result is None else [*_show_result(self.result)]
        if self.error is not None and self.status != "cancelled":
            lines += _show_error(self.error)
        return escape_text("\n".join(lines))


def is_failure(result: object) -> bool:
    """Whether a CallToolResult says that the tool failed."""
    return isinstance(result, dict) and result.get("isError") is True


def _show_result(result: Mapping[str, Any]) -> Iterator[str]:
    structured, content = result.get("structuredContent"), result.get("content")
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict) and (structured is None or not _repeats(block, structured)):
            yield _show_block(block)
    if structured is not None:
        yield json.dumps(structured, indent=2, ensure_ascii=False)


def _repeats(block: Mapping[str, Any], structured: object) -> bool:
    """Whether it is the structured content once more, as servers add it for clients that know text alone."""
    try:
        return bool(json.loads(block["text"]) == structured)
    except (KeyError, TypeError, ValueError):
        return False


def _show_block(block: Mapping[str, Any]) -> str:
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text"))
    if kind == "resource_link":
        return f"{block.get('name') or 'resource'}: {block.get('uri')}"
    inner = block.get("resource")
    if kind == "resource" and isinstance(inner, dict):
        return str(inner["text"]) if "text" in inner else f"[{inner.get('uri')}, {_size_of(inner.get('blob'))}]"
    return f"[{kind}, {block.get('mimeType')}, {_size_of(block.get('data'))}]"


def _size_of(encoded: object) -> str:
    return f"{len(str(encoded)) * 3 // 4} bytes" if encoded else "empty"


def _show_error(error: Mapping[str, Any]) -> Iterator[str]:
    yield f"{error.get('message')} ({error.get('code')})"
    data = error.get("data")
    if error.get("code") == UrlElicitationRequired.default_code and isinstance(data, dict):  # E-03
        for link in data.get("elicitations") or []:
            yield f"{link.get('message')}\n  {link.get('url')}"
        yield "Open what stands there, then call again."
