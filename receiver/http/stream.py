"""Server-sent events: how a stream looks on the wire."""

from starlette.types import Send

from receiver.http.refusal import Headers

RETRY_MS = 2000  # clients try twice, then give up, and a killed node can't say it later: so the first event does

_HEADERS = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)


class EventStream:
    """An event stream that is being sent."""

    def __init__(self, send: Send) -> None:
        self._send = send

    @classmethod
    async def open(cls, send: Send, headers: Headers, priming: str | None) -> "EventStream":
        """Sends the headers, and a first event with the id ``priming`` and no data (H-09), if there is one."""
        await send({"type": "http.response.start", "status": 200, "headers": [*_HEADERS, *headers]})
        stream = cls(send)
        opening = b": open\n\n" if priming is None else b"id: %b\nretry: %d\ndata: \n\n" % (priming.encode(), RETRY_MS)
        await stream._write(opening)
        return stream

    async def write(self, id: str | None, data: bytes) -> None:
        """Sends one message; ``id`` is where a client may go on after it."""
        head = b"" if id is None else b"id: %b\n" % id.encode()
        await self._write(b"event: message\n%bdata: %b\n\n" % (head, data))

    async def mark(self, id: str) -> None:
        """Tells a client where to go on, and nothing else."""
        await self._write(b"id: %b\ndata: \n\n" % id.encode())

    async def keep_alive(self) -> None:
        """Sends a comment."""
        await self._write(b": keep-alive\n\n")

    async def end(self) -> None:
        """Ends the stream."""
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _write(self, part: bytes) -> None:
        await self._send({"type": "http.response.body", "body": part, "more_body": True})
