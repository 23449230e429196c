"""A requestor that expects results: an error is raised, and a stream is read to its end."""

import json
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import httpx2

from tests.http import requestor as wire

PATIENCE_SECONDS = 30.0  # far longer than any answer takes that does not wait for a gate


class RpcError(Exception):
    """A JSON-RPC error as it was received."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(error["code"], error["message"])
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: Any = error.get("data")


class StreamEnded(Exception):
    """A stream that ended in good order without an answer: its requestor shall come back (H-10)."""


class Requestor:
    """Speaks to the node at ``url``, as whoever ``token`` stands for.  An async context manager.

    ``blocked``: how many requests have an open stream, and no answer yet.
    """

    def __init__(self, url: str, token: str) -> None:
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=100)
        # What it trusts is never asked, and slow to load.
        self._http = httpx2.AsyncClient(timeout=PATIENCE_SECONDS, limits=limits, trust_env=False, verify=False)
        self._wire = wire.Requestor(self._http, f"{url}/mcp", token)
        self.blocked = 0

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._http.__aexit__(kind, error, traceback)

    async def ask(self, method: str, **params: object) -> Any:
        """The result of a request.  Raises RpcError, StreamEnded, or httpx2's TransportError where the node died."""
        async with self._wire.stream(method, params) as stream:
            is_stream = stream.response.headers["content-type"] == "text/event-stream"
            self.blocked += is_stream
            try:
                await stream.response.aread()
            finally:
                self.blocked -= is_stream
        if is_stream and not _is_answered(stream.response.content):
            raise StreamEnded
        answer = wire.open_answer(stream.response)
        if "error" in answer:
            raise RpcError(answer["error"])
        return answer["result"]

    async def call(self, tool: str, **arguments: object) -> Any:
        """The result of a plain call."""
        return await self.ask("tools/call", name=tool, arguments=arguments)

    async def create(self, tool: str, *, ttl: int | None = None, **arguments: object) -> str:
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


def _is_answered(events: bytes) -> bool:
    """Whether there is a response among the messages of a stream."""
    messages = [json.loads(wire.message_of(event)) for event in events.split(b"\n\n") if b"data: {" in event]
    return any("method" not in message for message in messages)
