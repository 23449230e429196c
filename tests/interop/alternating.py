"""A way to several nodes, which takes them by turns: no two requests in a row reach the same."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import cycle

import httpx
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

PATIENCE_SECONDS = 40.0

Received = MemoryObjectReceiveStream[SessionMessage | Exception]
Sent = MemoryObjectSendStream[SessionMessage]


class Alternating(httpx.AsyncHTTPTransport):
    """Sends each request to the next of ``urls``, whichever it was meant for.  ``requests``: so many went to each."""

    def __init__(self, urls: Sequence[str]) -> None:
        super().__init__()
        self._turns = cycle(enumerate(httpx.URL(url) for url in urls))
        self.requests = [0 for _ in urls]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends one request."""
        number, node = next(self._turns)
        self.requests[number] += 1
        request.url = request.url.copy_with(host=node.host, port=node.port)
        request.headers["host"] = node.netloc.decode()
        return await super().handle_async_request(request)


@asynccontextmanager
async def open_client(urls: Sequence[str], token: str) -> AsyncIterator[tuple[Received, Sent]]:
    """The two ends of a ``ClientSession`` whose requests go to ``urls`` by turns."""
    headers = {"authorization": f"Bearer {token}"}
    async with (
        httpx.AsyncClient(transport=Alternating(urls), headers=headers, timeout=PATIENCE_SECONDS) as http,
        streamable_http_client(f"{urls[0]}/mcp", http_client=http) as (received, sent, _),
    ):
        yield received, sent
