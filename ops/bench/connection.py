"""HTTP/1.1 for a load: whole requests out, whole answers in, and next to nothing in between."""

import asyncio
from typing import cast
from urllib.parse import urlsplit

import httptools

from receiver.protocol.errors import StartupError


class Connection(asyncio.Protocol):
    """A connection that is kept; one request at a time.  ``status`` and ``session`` are of the last answer."""

    def __init__(self) -> None:
        self.status = 0
        self.session = b""
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._body: list[bytes] = []
        self._answer: asyncio.Future[bytes] | None = None

    async def exchange(self, request: bytes) -> bytes:
        """The body of the answer.  ConnectionError if the server hangs up instead."""
        if self._transport is None or self._transport.is_closing():
            raise ConnectionResetError("the server closed the connection")
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answer

    def close(self) -> None:
        """Hangs up."""
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by asyncio."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Called by asyncio."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._fail(ConnectionError(f"the server does not speak HTTP/1.1: {error}"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by asyncio."""
        self._fail(exc or ConnectionResetError("the server closed the connection"))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called by httptools."""
        if len(name) == 14 and name.lower() == b"mcp-session-id":
            self.session = value

    def on_body(self, body: bytes) -> None:
        """Called by httptools."""
        self._body.append(body)

    def on_message_complete(self) -> None:
        """Called by httptools."""
        self.status = self._parser.get_status_code()
        body, self._body = b"".join(self._body), []
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(body)

    def _fail(self, error: Exception) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)


async def connect(url: str) -> Connection:
    """A connection to the server of ``url``, over TLS for https.  StartupError if there is none."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise StartupError(f"{url} is no URL of an MCP server: http://HOST:PORT/mcp")
    is_secure = parts.scheme == "https"
    port = parts.port or (443 if is_secure else 80)
    loop = asyncio.get_running_loop()
    try:
        _, connection = await loop.create_connection(Connection, parts.hostname, port, ssl=True if is_secure else None)
    except OSError as error:
        raise StartupError(f"{url} can't be reached: {error.strerror or error}") from None
    return connection
