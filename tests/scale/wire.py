"""HTTP by hand: cheap enough for ten thousand streams in one process."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

VERSION = "2025-11-25"
CAPABILITIES: dict[str, Any] = {"elicitation": {}}
WAIT_SECONDS = 180.0

Message = dict[str, Any]
Item = TypeVar("Item")
Result = TypeVar("Result")

_ids = itertools.count(1)


@dataclass(frozen=True)
class Peer:
    """Whom a line speaks to, as whom, and in which session."""

    url: str
    token: str
    session: str = ""

    def at(self, url: str) -> "Peer":
        """The same at another node."""
        return Peer(url, self.token, self.session)

    def headers(self) -> dict[str, str]:
        """What every request has."""
        host = {"host": urlsplit(self.url).netloc, "authorization": f"Bearer {self.token}"}
        session = {"mcp-session-id": self.session, "mcp-protocol-version": VERSION} if self.session else {}
        return host | {"content-type": "application/json", "accept": "application/json, text/event-stream"} | session


class Line:
    """A connection, kept open.  One response at a time."""

    def __init__(self, peer: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.peer = peer
        self.status = 0
        self.headers: dict[str, str] = {}
        self.last: str | None = None
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, peer: Peer) -> Self:
        """Connects."""
        address = urlsplit(peer.url)
        return cls(peer, *await asyncio.open_connection(address.hostname, address.port))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Drops the connection."""
        self._writer.close()

    async def send(self, verb: str = "POST", body: bytes = b"", **headers: str) -> None:
        """Sends a request and reads the head of its response."""
        given = self.peer.headers() | {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{verb} /mcp HTTP/1.1", *(f"{name}: {value}" for name, value in given.items())]
        self._writer.write("\r\n".join([*lines, f"content-length: {len(body)}", "", ""]).encode() + body)
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip().split("\r\n")
        self.status = int(head[0].split()[1])
        self.headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}

    async def body(self) -> bytes:
        """The rest of the response."""
        if "content-length" in self.headers:
            return await self._reader.readexactly(int(self.headers["content-length"]))
        return b"".join([chunk async for chunk in self._chunks()])

    async def ask(self, method: str, params: object = None) -> Message:
        """The JSON-RPC response to a request that is answered at once, or whatever way."""
        await self.send(body=request(method, params))
        if self.headers.get("content-type") == "text/event-stream":
            messages = [message async for message in self.messages()]
            return messages[-1]
        answer: Message = json.loads(await self.body())
        return answer

    async def messages(self) -> AsyncIterator[Message]:
        """The messages of a stream, until it ends; ``last`` is where to go on."""
        async for event in self.events():
            if event.get("data"):
                yield json.loads(event["data"])

    async def events(self) -> AsyncIterator[dict[str, str]]:
        """The events of a stream; comments are left out."""
        read = b""
        async for chunk in self._chunks():
            *whole, read = (read + chunk).split(b"\n\n")
            for text in whole:
                event = dict(line.partition(": ")[::2] for line in text.decode().split("\n"))
                self.last = event.get("id", self.last)
                if "data" in event or "id" in event:
                    yield event

    async def _chunks(self) -> AsyncIterator[bytes]:
        while size := int(await self._reader.readline(), 16):
            yield (await self._reader.readexactly(size + 2))[:-2]
        await self._reader.readline()


def request(method: str, params: object = None) -> bytes:
    """A request with an id of its own."""
    return json.dumps({"jsonrpc": "2.0", "id": next(_ids), "method": method, "params": params or {}}).encode()


async def begin(url: str, token: str) -> Peer:
    """Opens a session."""
    info = {"name": "scale", "version": "1"}
    params = {"protocolVersion": VERSION, "capabilities": CAPABILITIES, "clientInfo": info}
    async with await Line.open(Peer(url, token)) as line:
        await line.send(body=request("initialize", params))
        await line.body()
        peer = Peer(url, token, line.headers["mcp-session-id"])
    async with await Line.open(peer) as line:
        await line.send(body=b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    return peer


async def over_lines(
    peer: Peer, lines: int, items: Iterable[Item], work: Callable[[Line, Item], Awaitable[Result]]
) -> list[Result]:
    """Does the work for all items, over so many connections; results in the order in which they came."""
    results, rest = [], iter(items)

    async def serve() -> None:
        async with await Line.open(peer) as line:
            for item in rest:
                results.append(await work(line, item))

    await asyncio.gather(*(serve() for _ in range(lines)))
    return results


async def create(line: Line, tool: str, **arguments: object) -> str:
    """Creates a task and returns its id."""
    answer = await line.ask("tools/call", {"name": tool, "arguments": arguments, "task": {}})
    assert "result" in answer, answer
    return str(answer["result"]["task"]["taskId"])


async def create_many(peer: Peer, count: int, tool: str, *, lines: int = 16, **arguments: object) -> list[str]:
    """Creates many tasks of one tool."""
    return await over_lines(peer, lines, range(count), lambda line, _: create(line, tool, **arguments))
