"""What a server said to one HTTP request, with what was sent, so that a Violation can show both."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from ops.client.stream import Message
from ops.client.violation import Violation

SHOWN = 800  # characters of a message in a report


@dataclass(frozen=True)
class Reply:
    """``sent`` is the message or body; ``message`` the JSON-RPC response, None if there was none.

    ``before`` are the notifications and requests that came on the same stream ahead of it; ``body`` is empty when the
    answer was a stream.  Headers have lower-case names.
    """

    verb: str
    sent: object
    status: int
    headers: Mapping[str, str]
    body: bytes
    message: Message | None
    before: tuple[Message, ...] = ()

    @property
    def is_stream(self) -> bool:
        """Whether it came as an event stream."""
        return self.headers.get("content-type", "").partition(";")[0].strip() == "text/event-stream"

    @property
    def result(self) -> dict[str, Any]:
        """The result; a Violation if there is none."""
        result = (self.message or {}).get("result")
        return result if isinstance(result, dict) else self.fail("a result")

    @property
    def error(self) -> dict[str, Any]:
        """The JSON-RPC error; a Violation if there is none."""
        error = (self.message or {}).get("error")
        return error if isinstance(error, dict) else self.fail("a JSON-RPC error")

    @property
    def task(self) -> dict[str, Any]:
        """The task of a CreateTaskResult, which has a ``taskId`` at least (T-14, T-48)."""
        task = self.result.get("task")
        fits = isinstance(task, dict) and isinstance(task.get("taskId"), str)
        self.expect(fits, "a CreateTaskResult: `result.task` is an object with a string `taskId`")
        return dict(self.result["task"])

    @property
    def task_id(self) -> str:
        """Its id."""
        return str(self.task["taskId"])

    def expect(self, holds: object, wanted: str) -> None:
        """A Violation that shows this exchange, unless ``holds`` is true; ``wanted`` says what has to be."""
        if not holds:
            self.fail(wanted)

    def expect_error(self, code: int) -> None:
        """A Violation unless it is a JSON-RPC error with this code."""
        error = (self.message or {}).get("error")
        self.expect(isinstance(error, dict) and error.get("code") == code, f"a JSON-RPC error with code {code}")

    def expect_status(self, *statuses: int) -> None:
        """A Violation unless the HTTP status is one of these."""
        self.expect(self.status in statuses, f"HTTP status {' or '.join(map(str, statuses))}")

    def fail(self, wanted: str) -> NoReturn:
        """The Violation."""
        raise Violation(f"{self}\nwanted: {wanted}")

    def __str__(self) -> str:
        came = self.message if self.message is not None else self.body.decode(errors="replace") or "no message"
        return f"sent: {self.verb} {show(self.sent)}\ncame: HTTP {self.status} {show(came)}"


def show(value: object) -> str:
    """A message as JSON, shortened."""
    text = value if isinstance(value, str) else repr(value) if isinstance(value, bytes) else _dump(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}... ({len(text)} characters)"


def expect(holds: object, text: str) -> None:
    """A Violation with this text, unless ``holds`` is true: for what no single reply shows."""
    if not holds:
        raise Violation(text)


def _dump(value: object) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False)
