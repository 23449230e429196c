"""uvicorn's HTTP protocol, with a time by which a request has to be there as a whole.

uvicorn waits for ever for the first byte, for the rest of the headers and for the body.
"""

import asyncio
from typing import cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from ops.departure import GatheringTransport

_LATE = (
    b"HTTP/1.1 408 Request Timeout\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: 36\r\n"
    b"connection: close\r\n\r\nThe request did not arrive in time.\n"
)


class PunctualProtocol(HttpToolsProtocol):
    """One connection.  The time runs from its start, later from the first byte of each request, and is not renewed."""

    # Up to 29 attributes of instances share their keys, and uvicorn has 28: a dictionary of its own costs 1.5 KiB.
    __slots__ = ("_is_awaited", "_is_in_head", "_late")

    receive_seconds = 30.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        self._late: asyncio.TimerHandle | None = None
        self._is_awaited = True
        self._is_in_head = False
        super().connection_made(GatheringTransport(transport, self.loop))
        self._arm()

    def connection_lost(self, exc: Exception | None) -> None:
        self._disarm()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._is_awaited = True  # an empty line begins no request, and yet ends uvicorn's own time for idle connections
        super().data_received(data)
        if self._is_awaited:  # most requests arrive as a whole, and need no time
            self._arm()

    def on_message_begin(self) -> None:
        self._is_in_head = True
        self._is_awaited = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._is_awaited = False
        self._disarm()
        super().on_message_complete()

    def _arm(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(self.receive_seconds, self._expire)

    def _disarm(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _expire(self) -> None:
        self._late = None
        cycle = cast(RequestResponseCycle | None, self.cycle)  # there is none before the first request
        is_answering = cycle is not None and not cycle.more_body and not cycle.response_complete
        if self.pipeline or is_answering:
            self._arm()  # an answer is on its way, and what comes behind its request has to wait for us
            return
        if self._is_in_head or (cycle is not None and cycle.more_body and not cycle.response_started):
            self.transport.write(_LATE)
        self.transport.close()


def make_protocol(receive_seconds: float) -> type[PunctualProtocol]:
    """The protocol of connections whose requests may take so long to arrive."""
    return type("Protocol", (PunctualProtocol,), {"__slots__": (), "receive_seconds": receive_seconds})
