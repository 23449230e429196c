"""A requestor: an MCP client as small as the tests need, which shows errors as they are on the wire."""

import itertools
import json
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import httpx2

PROTOCOL_VERSION = "2025-11-25"
HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": PROTOCOL_VERSION}
PATIENCE = httpx2.Timeout(30)  # seconds; far longer than any answer takes that does not wait for a gate


class RpcError(Exception):
    """A JSON-RPC error as it was received."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(error["code"], error["message"])
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: Any = error.get("data")


class Requestor:
    """Speaks to the node at ``url``, as whoever ``token`` stands for.  An async context manager.

    ``blocked``: how many requests have an open stream, and no answer yet.
    """

    def __init__(self, url: str, token: str) -> None:
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=100)
        headers = HEADERS | {"authorization": f"Bearer {token}"}
        self._url = f"{url}/mcp"
        self._http = httpx2.AsyncClient(headers=headers, timeout=PATIENCE, limits=limits, trust_env=False)
        self._ids = itertools.count(1)
        self.blocked = 0

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._http.__aexit__(kind, error, traceback)

    async def ask(self, method: str, **params: Any) -> Any:
        """The result of a request.  Raises RpcError, or httpx2's TransportError where the node went away."""
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}
        async with self._http.stream("POST", self._url, json=message) as response:
            is_stream = response.headers["content-type"].startswith("text/event-stream")
            self.blocked += is_stream
            try:
                body = await response.aread()
            finally:
                self.blocked -= is_stream
        return _open_answer(_last_data(body) if is_stream else body)

    async def call(self, tool: str, **arguments: Any) -> Any:
        """The result of a plain call."""
        return await self.ask("tools/call", name=tool, arguments=arguments)

    async def create(self, tool: str, *, ttl: int | None = None, **arguments: Any) -> str:
        """Creates a task and returns its id."""
        task = {} if ttl is None else {"ttl": ttl}
        created = await self.ask("tools/call", name=tool, arguments=arguments, task=task)
        return str(created["task"]["taskId"])

    async def get(self, task_id: str) -> Any:
        """The task."""
        return await self.ask("tasks/get", taskId=task_id)

    async def result(self, task_id: str) -> Any:
        """What ``tasks/result`` answers, when it does."""
        return await self.ask("tasks/result", taskId=task_id)

    async def outcome(self, task_id: str) -> Any:
        """The structured content of a task's result."""
        return (await self.result(task_id))["structuredContent"]

    async def cancel(self, task_id: str) -> Any:
        """The cancelled task."""
        return await self.ask("tasks/cancel", taskId=task_id)

    async def list(self) -> list[Any]:
        """The tasks of all pages."""
        page = await self.ask("tasks/list")
        tasks = page["tasks"]
        while "nextCursor" in page:
            page = await self.ask("tasks/list", cursor=page["nextCursor"])
            tasks += page["tasks"]
        return list(tasks)


def _open_answer(body: bytes) -> Any:
    message = json.loads(body)
    if "error" in message:
        raise RpcError(message["error"])
    return message["result"]


def _last_data(stream: bytes) -> bytes:
    """The data of the last event that has any; a stream without one broke off before its answer."""
    found = [line.removeprefix(b"data: ") for line in stream.split(b"\n") if line.startswith(b"data: {")]
    if not found:
        raise httpx2.RemoteProtocolError("the stream ended without an answer")
    return found[-1]
