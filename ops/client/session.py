"""A raw client in a session: it sees status codes, headers and event ids, and sends whatever it is told to.

What the server asks is answered only as ``answers`` says.
"""

import asyncio
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import httpx2

from ops.client.exchange import Exchange
from ops.client.reply import Reply
from ops.client.stream import Message

REVISION = "2025-11-25"
BOTH = "application/json, text/event-stream"
PAGES = 100  # of tools/list, at most

Headers = Mapping[str, str | None]  # None leaves out what is sent otherwise
Answers = Mapping[str, Any]  # the result for a method, or a function of the request that gives it


class Peer(Protocol):
    """Where a session is, and who keeps what it sends."""

    http: httpx2.AsyncClient

    def keep(self, exchange: Exchange) -> None:
        """Takes what was just sent, to drop it when all is over."""

    def url(self, node: int) -> str:
        """The endpoint of a node."""

    def authorization(self, user: int | None) -> str | None:
        """The header by which a user comes."""

    def waiting(self, what: str) -> AbstractContextManager[None]:
        """Notes what is waited for."""


@dataclass(frozen=True)
class Heard:
    """A message that the server sent by itself, and the stream that it came on."""

    message: Message
    exchange: Exchange


@dataclass
class Session:
    """``user`` is the number of a token of the peer's, None for nobody; ``node`` the number of a URL of it.

    ``heard`` is all that came on any stream and answers no request of ours.
    """

    server: Peer
    user: int | None = 0
    answers: Answers = field(default_factory=dict)
    id: str | None = None
    version: str | None = None
    heard: list[Heard] = field(default_factory=list)

    client: ClassVar[str] = "receiver"  # its name, for the server
    keeps: ClassVar[bool] = True  # all that comes; False for what may go on for days

    def __post_init__(self) -> None:
        self._ids = itertools.count(1)
        self._news = asyncio.Condition()
        self._sending: set[asyncio.Task[None]] = set()

    async def initialize(self, capabilities: Mapping[str, Any], version: str = REVISION, node: int = 0) -> Reply:
        """Begins the session, without ``notifications/initialized``."""
        reply = await self.request("initialize", self.introduce(capabilities, version), node)
        self.enter(reply)
        return reply

    def introduce(self, capabilities: Mapping[str, Any], version: str = REVISION) -> Message:
        """The ``params`` of initialize."""
        info = {"name": self.client, "version": "1"}
        return {"protocolVersion": version, "capabilities": capabilities, "clientInfo": info}

    def enter(self, reply: Reply) -> None:
        """Is from now on in the session that the reply to initialize began; a Violation if it began none."""
        self.id = reply.headers.get("mcp-session-id")
        self.version = str(reply.result.get("protocolVersion"))

    def frame(self, method: str, params: object = None) -> Message:
        """A request with an id of its own."""
        return {"id": next(self._ids), **notification(method, params)}

    def begin(
        self, method: str, params: object = None, node: int = 0, headers: Headers | None = None, *, resumes: bool = True
    ) -> Exchange:
        """Sends a request whose answer may be long in coming.

        A stream that ends before it is resumed, as H-10 asks, unless ``resumes`` is False.
        """
        return self.start("POST", self.frame(method, params), node, headers, resumes=resumes)

    async def request(self, method: str, params: object = None, node: int = 0, headers: Headers | None = None) -> Reply:
        """The reply to a request."""
        return await self.begin(method, params, node, headers).reply()

    async def notify(self, method: str, params: object = None, node: int = 0) -> Reply:
        """The reply to a notification."""
        return await self.send(notification(method, params), node)

    async def send(
        self, body: object = None, node: int = 0, headers: Headers | None = None, *, verb: str = "POST"
    ) -> Reply:
        """The reply to any HTTP request: ``body`` is bytes, what JSON can write, or None for nothing."""
        return await self.start(verb, body, node, headers).reply()

    def start(
        self, verb: str, body: object, node: int = 0, headers: Headers | None = None, *, resumes: bool = False
    ) -> Exchange:
        """Sends an HTTP request, and does not wait."""
        content = body if isinstance(body, bytes) or body is None else json.dumps(body, ensure_ascii=False).encode()
        request = self._build(verb, node, content, headers or {})
        resume = (lambda last: self._build("GET", node, None, {"last-event-id": last})) if resumes else None
        exchange = self._open(request, body, resume)
        self.server.keep(exchange)
        return exchange

    async def hear(self, method: str, count: int = 1, where: Callable[[Message], bool] = lambda _: True) -> Heard:
        """The message number ``count`` with this method, on whatever stream, among those that ``where`` takes."""
        with self.server.waiting(f"{method} number {count}"):
            async with self._news:
                while len(found := [one for one in self.heard_of(method) if where(one.message)]) < count:
                    await self._news.wait()
        return found[count - 1]

    def heard_of(self, method: str) -> Sequence[Heard]:
        """All messages with this method so far."""
        return [one for one in self.heard if one.message.get("method") == method]

    async def answer(self, asked: Message, result: object, node: int = 0) -> Reply:
        """Answers a request of the server's."""
        return await self.send({"jsonrpc": "2.0", "id": asked["id"], "result": result}, node)

    async def list_tools(self) -> list[Message]:
        """The tools of all pages of tools/list."""
        tools: list[Message] = []
        params: Message = {}
        for _ in range(PAGES):
            page = (await self.request("tools/list", params)).result
            tools += page["tools"]
            if (cursor := page.get("nextCursor")) is None:
                break
            params = {"cursor": cursor}
        return tools

    async def get_task(self, task_id: str, node: int = 0) -> Reply:
        """The reply to tasks/get."""
        return await self.request("tasks/get", {"taskId": task_id}, node)

    async def get_result(self, task_id: str, node: int = 0) -> Reply:
        """The reply to tasks/result, when it comes."""
        return await self.request("tasks/result", {"taskId": task_id}, node)

    async def cancel_task(self, task_id: str, node: int = 0) -> Reply:
        """The reply to tasks/cancel."""
        return await self.request("tasks/cancel", {"taskId": task_id}, node)

    def _open(self, request: httpx2.Request, sent: object, resume: Callable[[str], httpx2.Request] | None) -> Exchange:
        return Exchange(self.server.http, request, sent, self._hear, resume, self.server.waiting, keeps=self.keeps)

    def _build(self, verb: str, node: int, content: bytes | None, headers: Headers) -> httpx2.Request:
        given: dict[str, str | None] = {
            "accept": "text/event-stream" if verb == "GET" else BOTH,
            "content-type": None if content is None else "application/json",
            "authorization": self.server.authorization(self.user),
            "mcp-session-id": self.id,
            "mcp-protocol-version": self.version,
            **{name.lower(): value for name, value in headers.items()},
        }
        sent = {name: value for name, value in given.items() if value is not None}
        return self.server.http.build_request(verb, self.server.url(node), content=content, headers=sent)

    def _hear(self, exchange: Exchange, message: Message) -> None:
        self.heard.append(Heard(message, exchange))
        sending = asyncio.create_task(self._react(message))
        self._sending.add(sending)
        sending.add_done_callback(self._sending.discard)

    async def _react(self, message: Message) -> None:
        async with self._news:
            self._news.notify_all()
        method = str(message.get("method"))
        if "id" in message and method in self.answers:
            result = self.answers[method]
            self.start("POST", {"jsonrpc": "2.0", "id": message["id"], "result": _made(result, message)})


def notification(method: str, params: object = None) -> Message:
    """A JSON-RPC notification."""
    message: Message = {"jsonrpc": "2.0", "method": method}
    return message if params is None else message | {"params": params}


def _made(result: Any, request: Message) -> object:
    return result(request) if callable(result) else result
