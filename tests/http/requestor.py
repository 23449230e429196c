"""A requestor that shows what is on the wire: whole HTTP responses, raw bodies, and streams event by event."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2

HEADERS = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2025-11-25",
}
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "requestor", "version": "1"},
}
PATIENCE_SECONDS = 20.0
RELATED_TASK = "io.modelcontextprotocol/related-task"


class Stream:
    """An event stream while it is read."""

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response
        self._chunks = response.aiter_raw()
        self._read = b""

    async def next(self) -> bytes:
        """The next event or comment, without the empty line behind it."""
        while b"\n\n" not in self._read:
            self._read += await anext(self._chunks)
        event, _, self._read = self._read.partition(b"\n\n")
        return event

    async def answer(self) -> bytes:
        """The response, behind the notifications that come before it (H-12)."""
        while True:
            event = await self.next()
            if b"data: {" in event and b'"method":' not in (message := message_of(event)):
                return message

    async def rest(self) -> bytes:
        """All that comes until the stream ends."""
        return self._read + b"".join([chunk async for chunk in self._chunks])


class Requestor:
    """Speaks to the endpoint at ``url``, as whoever ``token`` stands for.  All requests share one pool.

    It begins a session before its first request, if it is let in.
    """

    def __init__(
        self, http: httpx2.AsyncClient, url: str, token: str | None = None, *, version: str = "2025-11-25"
    ) -> None:
        self._http = http
        self._url = url
        self._version = version
        credentials = {} if token is None else {"authorization": f"Bearer {token}"}
        self._headers = HEADERS | {"mcp-protocol-version": version} | credentials
        self._has_begun = False
        self._beginning = asyncio.Lock()

    def in_revision(self, version: str) -> "Requestor":
        """The same requestor in another session, of this revision."""
        other = Requestor(self._http, self._url, version=version)
        if (credentials := self._headers.get("authorization")) is not None:
            other._headers["authorization"] = credentials
        return other

    async def begin(self, headers: Mapping[str, str | None] | None = None) -> None:
        """Begins a session, unless there is one; without effect where none is granted."""
        async with self._beginning:
            if "mcp-session-id" in self._headers:
                return
            params = INITIALIZE | {"protocolVersion": self._version}
            response = await self._http.send(self._request(frame("initialize", params), headers or {}, "POST"))
            if (session := response.headers.get("mcp-session-id")) is not None:
                self._headers["mcp-session-id"] = session

    async def send(
        self, body: object, headers: Mapping[str, str | None] | None = None, *, verb: str = "POST"
    ) -> httpx2.Response:
        """The response to one HTTP request.

        ``body`` is bytes, pieces of them, or becomes JSON.  A header of None is left out.
        """
        if not _initializes(body):
            await self.begin(headers)
        return await self._http.send(self._request(body, headers or {}, verb))

    async def ask(self, method: str, params: object = None, *, id: object = 1) -> httpx2.Response:
        """The response to a well-formed JSON-RPC request: HTTP 200, whatever it says."""
        response = await self.send(frame(method, params, id))
        assert response.status_code == 200, response.text
        return response

    async def result(self, method: str, params: object = None) -> Any:
        """The JSON-RPC result of a request."""
        answer = open_answer(await self.ask(method, params))
        assert "result" in answer, answer
        return answer["result"]

    async def error(self, method: str, params: object = None) -> Any:
        """The JSON-RPC error of a request."""
        return open_answer(await self.ask(method, params))["error"]

    async def call(self, tool: str, **arguments: object) -> Any:
        """The result of a plain call."""
        return await self.result("tools/call", {"name": tool, "arguments": arguments})

    async def create(self, tool: str, **arguments: object) -> str:
        """Creates a task, and returns its id."""
        created = await self.result("tools/call", {"name": tool, "arguments": arguments, "task": {}})
        return str(created["task"]["taskId"])

    async def get(self, task_id: object) -> Any:
        """The task."""
        return await self.result("tasks/get", {"taskId": task_id})

    async def finish(self, tool: str, **arguments: object) -> str:
        """The id of a task that is over."""
        task_id = await self.create(tool, **arguments)
        await self.ask("tasks/result", {"taskId": task_id})
        return task_id

    @asynccontextmanager
    async def stream(self, method: str, params: object = None, *, id: object = 1) -> AsyncIterator[Stream]:
        """The answer to a request as a stream; leaving early drops the connection."""
        await self.begin()
        request = self._request(frame(method, params, id), {}, "POST")
        response = await self._http.send(request, stream=True)
        try:
            yield Stream(response)
        finally:
            await response.aclose()

    @asynccontextmanager
    async def waiting_for(self, task_id: str) -> AsyncIterator[Stream]:
        """A ``tasks/result`` that is blocked: its stream, behind the event that opens it."""
        async with self.stream("tasks/result", {"taskId": task_id}) as stream:
            assert (await stream.next()).endswith(b"data: ")
            yield stream

    def _request(self, body: object, headers: Mapping[str, str | None], verb: str) -> httpx2.Request:
        raw = isinstance(body, bytes | AsyncIterator)
        content: Any = body if raw else json.dumps(body, ensure_ascii=False).encode()
        request = self._http.build_request(verb, self._url, content=content)
        for name, value in {**self._headers, **headers}.items():
            if value is not None:
                request.headers[name] = value
            elif name in request.headers:
                del request.headers[name]
        return request


def _initializes(body: object) -> bool:
    return isinstance(body, dict) and body.get("method") == "initialize"


def frame(method: str, params: object = None, id: object = 1) -> dict[str, object]:
    """A JSON-RPC request."""
    message: dict[str, object] = {"jsonrpc": "2.0", "id": id, "method": method}
    return message if params is None else message | {"params": params}


def open_answer(response: httpx2.Response) -> Any:
    """The one JSON-RPC response that an HTTP response carries."""
    return json.loads(carried(response))


def carried(response: httpx2.Response) -> bytes:
    """The bytes of that response, from a JSON body or from the last event of a stream."""
    if response.headers["content-type"] == "application/json":
        return response.content
    assert response.headers["content-type"] == "text/event-stream"
    return message_of(response.content.split(b"\n\n")[-2])


def message_of(event: bytes) -> bytes:
    """The JSON-RPC message in an event."""
    fields = dict(line.split(b": ", 1) for line in event.split(b"\n"))
    assert fields[b"event"] == b"message"
    return fields[b"data"]


def without_related_task(result: bytes, task_id: str) -> bytes:
    """What is left of a result of ``tasks/result`` when the added related-task goes; it has to be there once."""
    member = b'"%b":{"taskId":"%b"}' % (RELATED_TASK.encode(), task_id.encode())
    assert result.count(member) == 1
    if b'"_meta":{%b}' % member in result:
        return result.replace(b'"_meta":{%b},' % member, b"").replace(b'"_meta":{%b}' % member, b"")
    return result.replace(member + b",", b"").replace(b"," + member, b"")
