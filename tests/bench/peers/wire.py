"""Requestors for servers that are asked again and again until a task is over, on either wire."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from ops.bench.connection import Connection
from ops.bench.requestor import CLIENT, Requestor, Target, Unexpected

MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
}

Opener = Callable[[Target], Awaitable[Requestor]]


class Poller(Requestor):
    """For FastMCP 3, whose ``tasks/result`` is an error as long as there is none.  ``pause``: seconds between polls."""

    pause = 0.0

    async def wait(self) -> None:
        """``tasks/get`` until the task has ended, then ``tasks/result``."""
        await self._poll()
        await super().wait()

    async def _poll(self) -> dict[str, Any]:
        task = await self.get()
        while task["status"] == "working":
            await asyncio.sleep(self.pause)
            task = await self.get()
        if task["status"] != "completed":
            raise Unexpected(f"a task that is {task['status']}: {task}")
        return task


class ModernPoller(Poller):
    """For MCP 2026-07-28: no session, headers that say what a body is about, and the result in ``tasks/get``."""

    def __init__(self, target: Target, connection: Connection) -> None:
        super().__init__(target, connection)
        params = {"name": target.tool, "arguments": target.arguments, "_meta": META}
        self._create = self._make_frame("tools/call", params)
        self._create_head = self._make_modern_head("tools/call", target.tool)

    async def create(self) -> bytes:
        """Creates a task and returns its id."""
        result = await self._exchange(self._create, self._create_head)
        if result.get("resultType") != "task":
            raise Unexpected(f"a task was wanted: {result}")
        self.task_id = result["taskId"].encode()
        return self.task_id

    async def get(self) -> dict[str, Any]:
        """``tasks/get`` of the task that it created last."""
        id = self.task_id.decode()
        frame = self._make_frame("tasks/get", {"taskId": id, "_meta": META})
        return await self._exchange(frame, self._make_modern_head("tasks/get", id))

    async def wait(self) -> None:
        """``tasks/get`` until it has the result."""
        task = await self._poll()
        if task["result"].get("isError"):
            raise Unexpected(f"a result was wanted: {task}")

    async def _begin(self) -> None:
        """There is no session."""

    def _make_modern_head(self, method: str, name: str) -> bytes:
        return self._make_head(f"MCP-Protocol-Version: {MODERN}", f"Mcp-Method: {method}", f"Mcp-Name: {name}")


def poll_every(pause: float, kind: type[Poller]) -> Opener:
    """How to open a poller that waits so many seconds between polls."""

    async def open(target: Target) -> Requestor:
        poller = await kind.open(target)
        poller.pause = pause
        return poller

    return open
