"""HTTP by hand, for what no HTTP client would send."""

import asyncio
from dataclasses import dataclass
from urllib.parse import urlsplit

WAIT_SECONDS = 20


@dataclass(frozen=True)
class Reply:
    """What came back until the server closed the connection, or the whole of one response."""

    status: int
    headers: dict[str, str]
    body: bytes


async def exchange(url: str, headers: list[str], *parts: bytes, method: str = "POST") -> Reply:
    """The reply to a request with exactly these headers, besides Host.  ``parts`` are sent one after the other."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            lines = [f"{method} {address.path} HTTP/1.1", f"Host: {address.netloc}", *headers, "", ""]
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
