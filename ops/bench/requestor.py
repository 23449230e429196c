"""One requestor of a load: a session on a connection of its own, and the requests that it makes."""

import asyncio
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

import orjson

from ops.bench.connection import Connection, connect
from receiver.protocol.errors import StartupError

VERSION = "2025-11-25"
CLIENT = {"name": "receiver-bench", "version": "1"}


class Unexpected(Exception):
    """An answer that is not what the request was for.  ``reason``: the word for a limit that was met, if one was."""

    def __init__(self, text: str, reason: str = "") -> None:
        super().__init__(text)
        self.reason = reason


@dataclass(frozen=True)
class Target:
    """What is asked: the tool ``tool`` of the server at ``url``, with ``arguments``, as who has ``token``."""

    url: str
    tool: str
    arguments: dict[str, Any]
    token: str = ""
    ttl: int = 600_000


class Requestor:
    """Built of frames that are ready but for an id: what a load spends on itself is not the server's to answer for."""

    def __init__(self, target: Target, connection: Connection) -> None:
        self.task_id = b""
        self.created = 0
        self.server: dict[str, Any] = {}
        self._connection = connection
        self._target = target
        self._head = self._make_head()
        self._number = 0
        task = {"name": target.tool, "arguments": target.arguments, "task": {"ttl": target.ttl}}
        self._create = self._make_frame("tools/call", task)

    @classmethod
    async def open(cls, target: Target) -> Self:
        """Connects, and begins a session.  StartupError if the server would not have it."""
        requestor = cls(target, await connect(target.url))
        try:
            await requestor._begin()
        except (Unexpected, ConnectionError) as error:
            requestor.close()
            raise StartupError(f"{target.url} can't be measured: {error}") from None
        except asyncio.CancelledError:
            requestor.close()
            raise
        return requestor

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of any request."""
        return await self._exchange(self._make_frame(method, params))

    async def create(self) -> bytes:
        """Creates a task and returns its id."""
        result = await self._exchange(self._create)
        try:
            self.task_id = result["task"]["taskId"].encode()
        except KeyError:
            raise Unexpected(f"a task was wanted: {result}") from None
        self.created += 1
        return self.task_id

    async def get(self) -> dict[str, Any]:
        """``tasks/get`` of the task that it created last."""
        return await self._exchange(_about(b"tasks/get", self.task_id))

    async def wait(self) -> None:
        """``tasks/result`` of the same."""
        result = await self._exchange(_about(b"tasks/result", self.task_id))
        if result.get("isError"):
            raise Unexpected(f"the tool failed: {result.get('content')}")

    async def run(self) -> None:
        """Creates a task and waits for its result."""
        await self.create()
        await self.wait()

    def close(self) -> None:
        """Hangs up."""
        self._connection.close()

    async def _begin(self) -> None:
        params = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": CLIENT}
        answer = await self.ask("initialize", params)
        if answer.get("protocolVersion") != VERSION:
            raise Unexpected(f"it speaks {answer.get('protocolVersion')}, not MCP {VERSION}")
        self.server = answer.get("serverInfo") or {}
        lines = [f"MCP-Protocol-Version: {VERSION}"]
        if session := self._connection.session:
            lines.append(f"Mcp-Session-Id: {session.decode()}")
        self._head = self._make_head(*lines)
        body = orjson.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})
        await self._connection.exchange(b"%b%d\r\n\r\n%b" % (self._head, len(body), body))

    async def _exchange(self, frame: bytes, head: bytes = b"") -> dict[str, Any]:
        self._number += 1
        body = frame % self._number
        answer = await self._connection.exchange(b"%b%d\r\n\r\n%b" % (head or self._head, len(body), body))
        if self._connection.status != 200:
            status = f"HTTP {self._connection.status}"
            raise Unexpected(f"{status}: {answer[:200].decode(errors='replace')}", status)
        message = _read(answer)
        try:
            result: dict[str, Any] = message["result"]
        except KeyError:
            raise _describe(message) from None
        return result

    def _make_head(self, *more: str) -> bytes:
        parts = urlsplit(self._target.url)
        lines = [
            f"POST {parts.path or '/'} HTTP/1.1",
            f"Host: {parts.netloc}",
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
        ]
        if self._target.token:
            lines.append(f"Authorization: Bearer {self._target.token}")
        return "\r\n".join([*lines, *more, "Content-Length: "]).encode()

    @staticmethod
    def _make_frame(method: str, params: dict[str, Any]) -> bytes:
        escaped = orjson.dumps({"method": method, "params": params}).replace(b"%", b"%%")
        return b'{"jsonrpc":"2.0","id":%d,' + escaped[1:]


def _about(method: bytes, task_id: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":%%d,"method":"%b","params":{"taskId":"%b"}}' % (method, task_id)


def _describe(message: dict[str, Any]) -> Unexpected:
    """A JSON-RPC error, without what differs from one to the next: they are counted by their text."""
    error = message.get("error")
    if not isinstance(error, dict):
        return Unexpected(f"neither a result nor an error: {message}")
    data = error.get("data")
    reason = str(data.get("reason", "")) if isinstance(data, dict) else ""
    return Unexpected(f"{error.get('code')} {error.get('message')}" + (f" ({reason})" if reason else ""), reason)


def _read(answer: bytes) -> dict[str, Any]:
    """The message of an answer, the last one of a stream."""
    if not answer.startswith(b"{"):
        answer = answer.rstrip().rpartition(b"data:")[2].partition(b"\n")[0]
    try:
        message = orjson.loads(answer)
    except orjson.JSONDecodeError:
        raise Unexpected(f"no JSON: {answer[:200].decode(errors='replace')}") from None
    return message if isinstance(message, dict) else {}
