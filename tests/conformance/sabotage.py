"""Saboteurs: each spoils one thing between the suite and a server, so that one check has to fail.

A saboteur is a function at one of four points of an HTTP exchange; one module a family in ``saboteurs/``, mirroring
the checks.  It gets the Call that came from the suite, and leaves alone what is not its business::

    @spoils_message(creation.begins_as_working)
    def say_queued(call: Call, message: Message) -> Message:
        if call.method == "tools/call" and "task" in message.get("result", {}):
            message["result"]["task"]["status"] = "queued"
        return message
"""

import importlib
import json
import pkgutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import httpx2

from ops.client.stream import Event, Message, Parser, read_message
from ops.conform.check import Check

PATIENCE_SECONDS = 10.0  # for what a saboteur keeps from coming; what comes is not waited for

Point = Literal["request", "head", "message", "event"]


@dataclass(frozen=True)
class Answer:
    """What the suite gets in place of what the server would have said."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @classmethod
    def json(cls, message: object, status: int = 200) -> "Answer":
        """A JSON body."""
        return cls(status, {"content-type": "application/json"}, json.dumps(message).encode())

    @classmethod
    def stream(cls, *said: Message | Event) -> "Answer":
        """A whole event stream, of messages or events."""
        events = [one if isinstance(one, Event) else Event(json.dumps(one)) for one in said]
        return cls(200, {"content-type": "text/event-stream"}, b"".join(map(encode, events)))


@dataclass
class Head:
    """Status and headers of a response, to be changed in place; header names are in lower case."""

    status: int
    headers: dict[str, str]


@dataclass
class Call:
    """A request of the suite's, to be changed in place before it goes on.

    ``node`` is the one that it was sent to; ``memory`` is shared by all calls of one saboteur's test.
    """

    http: httpx2.AsyncClient
    url: str
    verb: str
    headers: dict[str, str]
    body: bytes
    node: int
    memory: dict[str, Any]

    @property
    def message(self) -> Message:
        """The JSON-RPC message in it; ``{}`` for none, and for what is not one."""
        try:
            message = json.loads(self.body)
        except ValueError:
            return {}
        return message if isinstance(message, dict) else {}

    @message.setter
    def message(self, message: object) -> None:
        self.body = json.dumps(message).encode()

    @property
    def method(self) -> str | None:
        """Its method; None for answers, and for GET and DELETE."""
        return self.message.get("method")

    @property
    def params(self) -> Message:
        """Its params."""
        return self.message.get("params") or {}

    def result(self, result: object) -> Answer:
        """A result for it."""
        return Answer.json({"jsonrpc": "2.0", "id": self.message.get("id"), "result": result})

    def error(self, code: int, text: str = "sabotaged") -> Answer:
        """A JSON-RPC error for it."""
        return Answer.json({"jsonrpc": "2.0", "id": self.message.get("id"), "error": {"code": code, "message": text}})

    async def forward(self) -> Message:
        """The server's whole answer to it, behind whatever came before on a stream; ``{}`` for no message."""
        response = await self.http.request(self.verb, self.url, content=self.body, headers=self.headers)
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            messages = [event.message for event in Parser().feed(response.content) if event.message]
            return messages[-1] if messages else {}
        return read_message(response.content) if response.content else {}

    async def ask(self, method: str, params: object) -> Message:
        """The server's answer to a request of the saboteur's own, as whoever made the call."""
        message = {"jsonrpc": "2.0", "id": "saboteur", "method": method, "params": params}
        content, headers = json.dumps(message).encode(), self.headers | {"content-type": "application/json"}
        return await Call(self.http, self.url, "POST", headers, content, self.node, self.memory).forward()


@dataclass(frozen=True)
class Saboteur:
    """``spoil`` is called at ``point``; ``check`` has to fail within ``patience`` seconds.

    Its detail has to contain ``says``, where a check can fail for several reasons.

    What it raises fails the test.
    """

    check: Check
    point: Point
    spoil: Callable[..., Any]
    says: str
    patience: float

    @property
    def name(self) -> str:
        """The check's name and the function's."""
        return f"{self.check.name}-{self.spoil.__name__}"


T = TypeVar("T")
Passed = Message | list[Message] | None
SpoilRequest = Callable[[Call], Answer | Awaitable[Answer | None] | None]
SpoilHead = Callable[[Call, Head], None]
SpoilMessage = Callable[[Call, Message], Passed | Awaitable[Passed]]
SpoilEvent = Callable[[Call, Event], Event | list[Event] | None]

_registered: list[Saboteur] = []


def spoils_request(
    check: Check, *, says: str = "", patience: float = PATIENCE_SECONDS
) -> Callable[[SpoilRequest], SpoilRequest]:
    """Called before the request goes on: it may change the Call in place, or give the Answer itself."""
    return _register(check, "request", says, patience)


def spoils_head(
    check: Check, *, says: str = "", patience: float = PATIENCE_SECONDS
) -> Callable[[SpoilHead], SpoilHead]:
    """Called with status and headers of every response, to change them in place."""
    return _register(check, "head", says, patience)


def spoils_message(
    check: Check, *, says: str = "", patience: float = PATIENCE_SECONDS
) -> Callable[[SpoilMessage], SpoilMessage]:
    """Called with every JSON-RPC message from the server, in JSON or on a stream.

    It returns what goes on: the message, perhaps changed, several of them, or None for nothing.
    """
    return _register(check, "message", says, patience)


def spoils_event(
    check: Check, *, says: str = "", patience: float = PATIENCE_SECONDS
) -> Callable[[SpoilEvent], SpoilEvent]:
    """Called with every event of a stream, those without a message too; it returns what goes on, as for messages."""
    return _register(check, "event", says, patience)


def _register(check: Check, point: Point, says: str, patience: float) -> Callable[[T], T]:
    def register(spoil: T) -> T:
        assert callable(spoil)
        _registered.append(Saboteur(check, point, spoil, says, patience))
        return spoil

    return register


def load_saboteurs() -> list[Saboteur]:
    """All of them."""
    from tests.conformance import saboteurs

    for module in pkgutil.iter_modules(saboteurs.__path__):
        importlib.import_module(f"{saboteurs.__name__}.{module.name}")
    return _registered


def encode(event: Event) -> bytes:
    """An event as it goes over the wire."""
    fields = {"event": event.name, "id": event.id, "retry": event.retry, "data": event.data}
    lines = [
        f"{name}: {line}" for name, value in fields.items() if value is not None for line in f"{value}".split("\n")
    ]
    return ("\n".join(lines) + "\n\n").encode()
