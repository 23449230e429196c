"""HTTP by hand, for what no HTTP client would send."""

import asyncio
import json
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.http.requestor import INITIALIZE

WAIT_SECONDS = 20


@dataclass(frozen=True)
class Reply:
    """What came back until the server closed the connection, or the whole of one response."""

    status: int
    headers: dict[str, str]
    body: bytes


async def exchange(url: str, headers: list[str], *parts: bytes, method: str = "POST", head: str | None = None) -> Reply:
    """The reply to a request with exactly these headers, besides Host and a session.  ``parts`` are sent in turn.

    ``head`` is the first line, in place of the usual one and of Host.
    """
    session = await _begin(url, headers, head)
    return await _exchange(url, [*headers, *session], *parts, method=method, head=head)


async def _begin(url: str, headers: list[str], head: str | None) -> list[str]:
    """The header of a new session for whoever these headers are of; none where none is granted."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}).encode()
    credentials = [header for header in headers if header.lower().startswith(("authorization:", "host:"))]
    given = ["Content-Type: application/json", f"Content-Length: {len(body)}", *credentials]
    session = (await _exchange(url, given, body, head=head)).headers.get("mcp-session-id")
    return [] if session is None else [f"Mcp-Session-Id: {session}"]


async def _exchange(
    url: str, headers: list[str], *parts: bytes, method: str = "POST", head: str | None = None
) -> Reply:
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            usual = [f"{method} {address.path} HTTP/1.1", f"Host: {address.netloc}"]
            lines = [*(usual if head is None else [head]), *headers, "", ""]
            for part in ("\r\n".join(lines).encode(), *parts):
                writer.write(part)
                await writer.drain()
            return await _read_reply(reader)
    finally:
        writer.close()


async def _read_reply(reader: asyncio.StreamReader) -> Reply:
    status, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Reply(int(status.split()[1]), headers, body)


def chunk(data: bytes) -> bytes:
    """A piece of a body with ``Transfer-Encoding: chunked``; the last one is empty."""
    return b"%x\r\n%b\r\n" % (len(data), data)
