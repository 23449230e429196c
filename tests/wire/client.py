"""A client with a session, whose requests go to any node, and which reads event streams one event at a time."""

import itertools
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

import httpx2

VERSION = "2025-11-25"
BOTH = "application/json, text/event-stream"
JSON, STREAM = BOTH.split(", ")
RELATED_TASK = "io.modelcontextprotocol/related-task"
PATIENCE_SECONDS = 20.0

Message = dict[str, Any]


@dataclass(frozen=True)
class Event:
    """One event; a comment has none of it."""

    id: str | None
    retry: int | None
    data: str | None

    @classmethod
    def of(cls, text: str) -> Self:
        fields = dict(line.partition(": ")[::2] for line in text.split("\n"))
        retry = fields.get("retry")
        return cls(fields.get("id"), None if retry is None else int(retry), fields.get("data"))

    @property
    def message(self) -> Message:
        """The JSON-RPC message in it."""
        assert self.data
        message: Message = json.loads(self.data)
        return message


class Stream:
    """An event stream while it is read.  ``last`` is the id of the last event that had one."""

    def __init__(self, response: httpx2.Response) -> None:
        assert response.headers["content-type"] == STREAM, response.headers
        self._response = response
        self._chunks = response.aiter_text()
        self._read = ""
        self.last: str | None = None

    async def next(self) -> Event:
        """The next event or comment."""
        while "\n\n" not in self._read:
            self._read += await anext(self._chunks)
        text, _, self._read = self._read.partition("\n\n")
        event = Event.of(text)
        self.last = event.id or self.last
        return event

    async def events(self) -> AsyncIterator[Event]:
        """All events with a message in them, until the stream ends."""
        try:
            while True:
                if (event := await self.next()).data:
                    yield event
        except StopAsyncIteration:
            assert not self._read, "the stream broke off within an event"

    async def message(self) -> Message:
        """The next message."""
        async for event in self.events():
            return event.message
        raise AssertionError("the stream ended")

    async def take(self, count: int) -> list[Message]:
        """The next messages."""
        return [await self.message() for _ in range(count)]

    async def drop(self) -> None:
        """Drops the connection."""
        await self._response.aclose()

    async def rest(self) -> list[Message]:
        """All messages until the stream ends."""
        return [event.message async for event in self.events()]


class Client:
    """Speaks to the endpoints ``urls`` as whoever ``token`` stands for.  Ids of requests rise."""

    def __init__(self, http: httpx2.AsyncClient, urls: Sequence[str], token: str | None = None) -> None:
        self.token = token
        self._http = http
        self._urls = urls
        self._ids = itertools.count(1)
        self._headers = {"content-type": "application/json", "accept": BOTH}
        if token is not None:
            self._headers["authorization"] = f"Bearer {token}"

    @property
    def session(self) -> str:
        """The id of its session."""
        return self._headers["mcp-session-id"]

    async def open(
        self, capabilities: Mapping[str, Any] | None = None, *, version: str = VERSION, node: int = 0
    ) -> Message:
        """Begins a session, and returns what the server said of itself."""
        info = {"name": "test", "version": "1"}
        params = {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": info}
        response = await self.send(self.frame("initialize", params), node)
        result: Message = response.json()["result"]
        self._headers["mcp-session-id"] = response.headers["mcp-session-id"]
        self._headers["mcp-protocol-version"] = result["protocolVersion"]
        assert (await self.send(notification("notifications/initialized"), 1 - node)).status_code == 202
        return result

    def join(self, session: str, version: str | None = VERSION) -> Self:
        """Goes on in a session that somebody began."""
        self._headers["mcp-session-id"] = session
        if version is not None:
            self._headers["mcp-protocol-version"] = version
        return self

    def frame(self, method: str, params: object = None) -> Message:
        """A request, with an id of its own."""
        message: Message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method}
        return message if params is None else message | {"params": params}

    async def send(
        self, message: Message, node: int = 0, headers: Mapping[str, str | None] | None = None, *, verb: str = "POST"
    ) -> httpx2.Response:
        """The whole response to one HTTP request.  A header of None is left out."""
        return await self._http.send(self._request(verb, node, message, headers or {}))

    async def ask(self, method: str, params: object = None, node: int = 0) -> Message:
        """The JSON-RPC response to a request, behind whatever is said meanwhile."""
        response = await self.send(self.frame(method, params), node)
        assert response.status_code == 200, response.text
        return read_messages(response)[-1]

    async def result(self, method: str, params: object = None, node: int = 0) -> Any:
        """Its result."""
        answer = await self.ask(method, params, node)
        assert "result" in answer, answer
        return answer["result"]

    async def error(self, method: str, params: object = None, node: int = 0) -> Any:
        """Its error."""
        answer = await self.ask(method, params, node)
        assert "error" in answer, answer
        return answer["error"]

    async def call(self, tool: str, arguments: object, node: int = 0, **params: object) -> Any:
        """The result of a plain call."""
        return await self.result("tools/call", {"name": tool, "arguments": arguments, **params}, node)

    async def create(self, tool: str, arguments: object, node: int = 0, *, ttl: int | None = None, **meta: Any) -> str:
        """The id of a new task; ``meta`` is what the request's ``_meta`` holds."""
        task = {} if ttl is None else {"ttl": ttl}
        params: Message = {"name": tool, "arguments": arguments, "task": task}
        created = await self.result("tools/call", params | ({"_meta": meta} if meta else {}), node)
        return str(created["task"]["taskId"])

    async def script(self, *steps: list[Any], node: int = 0, tool: str = "talk", **meta: Any) -> str:
        """The id of a new task that does these steps."""
        return await self.create(tool, {"script": steps}, node, **meta)

    async def get(self, task_id: str, node: int = 0) -> Any:
        """The task."""
        return await self.result("tasks/get", {"taskId": task_id}, node)

    async def status(self, task_id: str, node: int = 0) -> str:
        """Its status."""
        return str((await self.get(task_id, node))["status"])

    @asynccontextmanager
    async def stream(self, message: Message, node: int = 0, **headers: str) -> AsyncIterator[Stream]:
        """The answer to a request as a stream; to leave it early drops the connection."""
        async with self.stream_of(self._request("POST", node, message, headers)) as stream:
            yield stream

    @asynccontextmanager
    async def waiting_for(self, task_id: str, node: int = 0) -> AsyncIterator[Stream]:
        """A ``tasks/result`` that is blocked: its stream, behind the event that opens it."""
        async with self.stream(self.frame("tasks/result", {"taskId": task_id}), node) as stream:
            await skip_priming(stream)
            yield stream

    @asynccontextmanager
    async def calling(self, tool: str, arguments: object, node: int = 0, **meta: Any) -> AsyncIterator[Stream]:
        """A plain call that has said something: its stream, behind the event that opens it."""
        params: Message = {"name": tool, "arguments": arguments}
        async with self.stream(self.frame("tools/call", params | ({"_meta": meta} if meta else {})), node) as stream:
            await skip_priming(stream)
            yield stream

    @asynccontextmanager
    async def listen(self, node: int = 0, last: str | None = None) -> AsyncIterator[Stream]:
        """A GET stream behind the event that opens it: a new one, or that on which the event ``last`` came."""
        async with self.stream_of(self.get_request(node, last)) as stream:
            await skip_priming(stream)
            yield stream

    async def answer(self, asked: Message, result: object, node: int = 0) -> int:
        """Answers a request of the server's; returns the HTTP status."""
        return (await self.send({"jsonrpc": "2.0", "id": asked["id"], "result": result}, node)).status_code

    async def accept(self, asked: Message, content: object, node: int = 0) -> int:
        """Answers a form."""
        return await self.answer(asked, {"action": "accept", "content": content}, node)

    async def cancel(self, request: Message, node: int = 0) -> int:
        """Takes a request back; returns the HTTP status."""
        message = notification("notifications/cancelled", {"requestId": request["id"], "reason": "enough"})
        return (await self.send(message, node)).status_code

    def get_request(self, node: int = 0, last: str | None = None) -> httpx2.Request:
        """The request that opens a GET stream, as ``listen`` does."""
        return self._request("GET", node, None, {"accept": STREAM} | ({} if last is None else {"last-event-id": last}))

    @asynccontextmanager
    async def stream_of(self, request: httpx2.Request) -> AsyncIterator[Stream]:
        """The response to a request as a stream."""
        async with self._response_to(request) as response:
            yield Stream(response)

    @asynccontextmanager
    async def result_or_stream(self, task_id: str, node: int = 0) -> AsyncIterator[Stream | Message]:
        """What ``tasks/result`` is answered with: JSON if the task is over, else a stream behind its first event."""
        message = self.frame("tasks/result", {"taskId": task_id})
        async with self._response_to(self._request("POST", node, message, {})) as response:
            if response.headers["content-type"] == JSON:
                yield json.loads(await response.aread())
            else:
                stream = Stream(response)
                await skip_priming(stream)
                yield stream

    @asynccontextmanager
    async def _response_to(self, request: httpx2.Request) -> AsyncIterator[httpx2.Response]:
        response = await self._http.send(request, stream=True)
        try:
            assert response.status_code == 200, await response.aread()
            yield response
        finally:
            await response.aclose()

    def _request(self, verb: str, node: int, message: object, headers: Mapping[str, str | None]) -> httpx2.Request:
        content = None if message is None else json.dumps(message).encode()
        request = self._http.build_request(verb, self._urls[node], content=content)
        for name, value in {**self._headers, **headers}.items():
            if value is not None:
                request.headers[name] = value
            elif name in request.headers:
                del request.headers[name]
        return request


async def skip_priming(stream: Stream) -> None:
    """Reads the event with which a stream opens (H-09)."""
    event = await stream.next()
    assert event.id
    assert event.data == ""


def notification(method: str, params: object = None) -> Message:
    """A JSON-RPC notification."""
    message: Message = {"jsonrpc": "2.0", "method": method}
    return message if params is None else message | {"params": params}


def read_messages(response: httpx2.Response) -> list[Message]:
    """All JSON-RPC messages that an HTTP response carried."""
    if response.headers["content-type"] == JSON:
        return [response.json()]
    assert response.headers["content-type"] == STREAM
    events = map(Event.of, response.text.removesuffix("\n\n").split("\n\n"))
    return [event.message for event in events if event.data]


def methods_of(messages: Sequence[Message]) -> list[str]:
    """The method of each message, and ``response`` for one that has none."""
    return [message.get("method", "response") for message in messages]
