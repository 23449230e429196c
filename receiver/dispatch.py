"""From a method's name to its handler.  A handler knows neither HTTP nor Redis."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from receiver.principal import Principal
from receiver.protocol.errors import InvalidParams, MethodNotFound
from receiver.protocol.jsonrpc import Request


@dataclass(frozen=True, slots=True)
class Answer:
    """A JSON-RPC result, or an error, as JSON bytes."""

    body: bytes
    kind: Literal["result", "error"] = "result"


@dataclass(frozen=True, slots=True)
class Later:
    """An answer that takes its time: ``wait`` gives it, or raises its error.

    ``streams``: the transport shall open a stream at once, and not leave its client in silence until then.
    """

    wait: Callable[[], Awaitable[Answer]]
    streams: bool


Services = TypeVar("Services")


@dataclass(frozen=True, slots=True)
class Call(Generic[Services]):
    """One request as a handler sees it."""

    method: str
    params: dict[str, Any]
    principal: Principal
    services: Services


Handler = Callable[[Call[Services]], Awaitable[Answer | Later]]


class Dispatcher(Generic[Services]):
    """The methods that a server answers."""

    def __init__(self, services: Services, handlers: dict[str, Handler[Services]]) -> None:
        self._services = services
        self._handlers = handlers

    async def dispatch(self, request: Request, principal: Principal) -> Answer | Later:
        """The answer to ``request``.  Raises the ReceiverError that is to be sent instead."""
        handler = self._handlers.get(request.method)
        if handler is None:
            raise MethodNotFound(f"Method not found: {request.method}")
        if request.params is None:
            raise InvalidParams("params must be an object")
        return await handler(Call(request.method, request.params, principal, self._services))
