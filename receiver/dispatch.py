"""From a method's name to its handler.  A handler knows neither HTTP nor Redis."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import orjson

from receiver.feed import TaskFeed
from receiver.principal import Principal
from receiver.protocol.errors import InvalidParams, MethodNotFound
from receiver.protocol.event_id import StreamPosition
from receiver.protocol.jsonrpc import Request, RequestId
from receiver.session import Session
from receiver.store.record import Progress


@dataclass(frozen=True, slots=True)
class Answer:
    """A JSON-RPC result, or an error, as JSON bytes.  ``session`` is the one that it begins, if it does.

    ``is_error``: a result that says of a tool that it failed.
    """

    body: bytes
    kind: Literal["result", "error"] = "result"
    session: Session | None = None
    is_error: bool = False

    @property
    def error_type(self) -> str | None:
        """What OpenTelemetry's conventions call it if it failed: the code of an error, or ``tool_error``."""
        if self.kind == "error":
            return str(orjson.loads(self.body)["code"])
        return "tool_error" if self.is_error else None


@dataclass(frozen=True, slots=True)
class Later:
    """An answer that takes its time, once ``begin`` was awaited, if there is one.

    ``feed`` gives messages meanwhile, none for a client that takes no streams (False), and at last what ``finish``
    answers with.  ``stream`` is where a client may go on that lost it.  ``at_once``: a stream shall be opened before
    anything comes.
    """

    stream: StreamPosition
    feed: Callable[[bool], TaskFeed]
    finish: Callable[[Progress], Answer]
    at_once: bool
    begin: Callable[[], Awaitable[object]] | None = None


Services = TypeVar("Services")


@dataclass(frozen=True, slots=True)
class Call(Generic[Services]):
    """One request as a handler sees it.  ``session`` is None for ``initialize`` alone; ``address`` is the client's."""

    id: RequestId
    method: str
    params: dict[str, Any]
    principal: Principal
    session: Session | None
    services: Services
    address: str = ""


Handler = Callable[[Call[Services]], Awaitable[Answer | Later]]


class Dispatcher(Generic[Services]):
    """The methods that a server answers."""

    def __init__(self, services: Services, handlers: dict[str, Handler[Services]]) -> None:
        self.services = services
        self._handlers = handlers

    def __contains__(self, method: str) -> bool:
        return method in self._handlers

    async def dispatch(
        self, request: Request, principal: Principal, session: Session | None, address: str = ""
    ) -> Answer | Later:
        """The answer to ``request``.  Raises the ReceiverError that is to be sent instead, or SessionEnded."""
        handler = self._handlers.get(request.method)
        if handler is None:
            raise MethodNotFound(f"Method not found: {request.method}")
        if request.params is None:
            raise InvalidParams("params must be an object")
        call = Call(request.id, request.method, request.params, principal, session, self.services, address)
        return await handler(call)
