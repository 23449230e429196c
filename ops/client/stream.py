"""Server-sent events, as a client reads them: https://html.spec.whatwg.org/multipage/server-sent-events.html."""

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ops.client.violation import Violation

Message = dict[str, Any]


@dataclass(frozen=True)
class Event:
    """One event; a field that was not sent is None."""

    data: str | None = None
    id: str | None = None
    retry: int | None = None
    name: str | None = None

    @property
    def message(self) -> Message | None:
        """The JSON-RPC message in it; None if it holds nothing, as the event that opens a stream."""
        return read_message(self.data) if self.data else None


class Parser:
    """Turns chunks of a body into events; comments are left out."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._text = ""

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """The events that end in this chunk."""
        try:
            self._text += self._decoder.decode(chunk)
        except UnicodeDecodeError as error:
            raise Violation(f"the event stream is not UTF-8: {error}") from None  # H-01
        held = "\r" if self._text.endswith("\r") else ""  # perhaps half of an end of line
        text = re.sub("\r\n?", "\n", self._text.removesuffix("\r"))
        *blocks, rest = text.split("\n\n")
        self._text = rest + held
        for block in blocks:
            if (event := _read_event(block)) is not None:
                yield event


def _read_event(block: str) -> Event | None:
    fields: dict[str, list[str]] = {}
    for line in block.split("\n"):
        name, _, value = line.partition(":")
        fields.setdefault(name, []).append(value.removeprefix(" "))
    fields.pop("", None)  # comments, and an empty line before the first field
    if not fields:
        return None
    data, retry = fields.get("data"), fields.get("retry", [""])[-1]
    last = {name: values[-1] for name, values in fields.items()}
    retry_ms = int(retry) if retry.isdecimal() else None
    return Event(None if data is None else "\n".join(data), last.get("id"), retry_ms, last.get("event"))


def read_message(text: str | bytes) -> Message:
    """One JSON-RPC message; a Violation if it is not one."""
    try:
        message = json.loads(text)
    except ValueError as error:
        raise Violation(f"the server sent what is not JSON in UTF-8 ({error}): {text!r:.500}") from None  # H-01
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise Violation(f"the server sent what is not a JSON-RPC 2.0 message: {text!r:.500}")
    return message
