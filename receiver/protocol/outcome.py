"""How a run ended: the underlying result or JSON-RPC error, encoded once and never again.

The record stores an outcome as it is here.  Both wires are renderings of it: they splice the bytes into their
answers, and derive the status that they show from the two flags (X-3).
"""

from dataclasses import dataclass
from typing import Any, Literal

import orjson

from receiver.protocol.errors import ReceiverError

DIAGNOSIS_LENGTH = 500


@dataclass(frozen=True, slots=True)
class Outcome:
    """``payload`` is the JSON object of the result, or of the error, as bytes; ``diagnosis`` one line for people."""

    kind: Literal["result", "error"]
    payload: bytes
    is_error: bool = False
    diagnosis: str | None = None

    @classmethod
    def of_result(cls, result: dict[str, Any]) -> "Outcome":
        """The outcome of a CallToolResult.  A ``_meta`` that it brings is encoded first, see ``handshake``."""
        rest = {name: value for name, value in result.items() if name != "_meta"}
        meta = result.get("_meta")
        ordered = {"_meta": meta, **rest} if meta else rest
        is_error = bool(result.get("isError"))
        return cls("result", orjson.dumps(ordered), is_error, _first_text(result) if is_error else None)

    @classmethod
    def of_error(cls, error: ReceiverError) -> "Outcome":
        """The outcome of a run that ended in a JSON-RPC error (T-83)."""
        return cls("error", orjson.dumps(error.to_json()), True, one_line(error.message))

    @property
    def status(self) -> Literal["completed", "failed"]:
        """The status of 2025-11-25: a result with ``isError`` counts as failed (T-75)."""
        return "failed" if self.is_error else "completed"


def one_line(text: str) -> str:
    """``text`` as a status message: one line of at most 500 characters (T-82)."""
    line = " ".join(text.split())
    return line if len(line) <= DIAGNOSIS_LENGTH else line[: DIAGNOSIS_LENGTH - 1] + "…"


def _first_text(result: dict[str, Any]) -> str | None:
    for block in result.get("content", ()):
        if block.get("type") == "text" and block.get("text", "").strip():
            return one_line(block["text"])
    return None
