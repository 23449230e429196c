"""One server, as a call needs it: a session that outlives lost connections, and requests that are waited for.

follow   POST, then its stream ─ lost ─▶ GET with Last-Event-ID ─ refused ─▶ the request again, if it bears that
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, ClassVar

import httpx2

from ops.calling.outcome import REFUSED, UNREACHABLE, Ended
from ops.client import session
from ops.client.exchange import Exchange
from ops.client.reply import Reply
from ops.client.stream import Message
from ops.client.violation import Violation

CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 30.0  # for what is answered at once
LEAVE_SECONDS = 2.0
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds between attempts
NO_SESSION = 404  # what a server says of a session that is over
TOO_MANY = 429
REFUSALS = {
    401: "the server asks who you are (HTTP 401): give --token",
    403: "the server refuses you (HTTP 403)",
    404: "there is no MCP endpoint (HTTP 404)",
}

Listener = Callable[[Message], None]
Lost = (httpx2.TransportError, OSError, TimeoutError)


@dataclass
class CallerSession(session.Session):
    """``listener`` gets all that the server says by itself."""

    listener: Listener = lambda message: None

    client: ClassVar[str] = "receiver-call"
    keeps: ClassVar[bool] = False

    def resume(self, frame: Message, last: str) -> Exchange:
        """Goes on with the stream of a request, behind the event ``last``, wherever it broke."""
        request = self._build("GET", 0, None, {"last-event-id": last})
        exchange = self._open(request, frame, lambda id: self._build("GET", 0, None, {"last-event-id": id}))
        self.server.keep(exchange)
        return exchange

    def _hear(self, exchange: Exchange, message: Message) -> None:
        with suppress(
            AttributeError, LookupError, TypeError, ValueError
        ):  # of a shape that nobody expects: passed over
            self.listener(message)


class Connection:
    """``patience``: seconds for which a server that was there is tried again.  ``say`` tells the user of a loss."""

    def __init__(self, http: httpx2.AsyncClient, url: str, token: str | None, patience: float) -> None:
        self.http = http
        self.listener: Listener = lambda message: None
        self.say: Callable[[str], None] = lambda text: None
        self.capabilities: Mapping[str, Any] = {}
        self._url = url
        self._token = token
        self._patience = patience
        self._declared: Mapping[str, Any] = {}
        self._session = CallerSession(self)
        self._news: Exchange | None = None
        self._exchanges: list[Exchange] = []

    async def open(self, declared: Mapping[str, Any]) -> None:
        """Begins a session as a client with these capabilities.  Raises Ended."""
        self._declared = declared
        try:
            async with asyncio.timeout(CONNECT_SECONDS + ANSWER_SECONDS):
                await self._begin()
        except (*Lost, httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeError) as error:
            raise Ended(UNREACHABLE, f"{self._url} can't be reached: {_reason(error)}") from None

    async def request(self, method: str, params: Mapping[str, Any]) -> Message:
        """The response to a request that is answered at once: its ``result`` or its ``error``.  Raises Ended."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                reply = await self._session.request(method, params)
        except Lost as error:
            raise Ended(UNREACHABLE, f"{self._url} can't be reached: {_reason(error)}") from None
        return reply.message or _refuse(reply)

    async def list_tools(self) -> list[Message]:
        """The tools of the server."""
        return await self._session.list_tools()

    def begin(self, method: str, params: Mapping[str, Any]) -> "Pending":
        """A request whose response may be long in coming."""
        return Pending(self._session, self._session.frame(method, params))

    async def follow(self, pending: "Pending", *, repeats: bool) -> Message:
        """Its response, over lost connections.  ``repeats``: it may be sent again.  Raises Ended."""
        exchange = pending.send()
        while True:
            with suppress(*Lost):
                await exchange.until(lambda sent=exchange: sent.answer)  # type: ignore[misc]
            if exchange.answer is not None and (_is_taken(exchange) or not repeats):
                return exchange.answer
            exchange = await self._go_on(pending, exchange, repeats=repeats)

    async def respond(self, request: Message, **answer: Any) -> None:
        """Answers a request of the server's; one that asks again when it was not heard."""
        with suppress(*Lost, Violation):
            await self._session.send({"jsonrpc": "2.0", "id": request["id"], **answer})

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Sends a notification, if that can be done."""
        with suppress(*Lost, Violation):
            async with asyncio.timeout(LEAVE_SECONDS):
                await self._session.notify(method, params)

    async def close(self, *, ends: bool) -> None:
        """Drops all connections; ``ends`` the session, too."""
        for exchange in self._exchanges:
            await exchange.drop()
        if ends and self._session.id is not None:
            with suppress(*Lost, Violation):
                async with asyncio.timeout(LEAVE_SECONDS):
                    await self._session.send(verb="DELETE")

    def keep(self, exchange: Exchange) -> None:
        """Notes what was sent, to be dropped in the end."""
        self._exchanges = [*(other for other in self._exchanges if not other.ended), exchange]

    def url(self, node: int) -> str:
        """The endpoint."""
        return self._url

    def authorization(self, user: int | None) -> str | None:
        """The header of the token."""
        return None if self._token is None else f"Bearer {self._token}"

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """Nobody asks what is waited for."""
        yield

    async def _begin(self) -> None:
        self._session = CallerSession(self, listener=self.listener)
        reply = await self._session.request("initialize", self._session.introduce(self._declared))
        if reply.message is None or "result" not in reply.message:
            raise Ended(REFUSED, _refusal(reply))
        self._session.enter(reply)
        self.capabilities = reply.result.get("capabilities") or {}
        await self._session.notify("notifications/initialized")
        self._news = self._session.start("GET", None)  # questions may come on any stream (T-35); 405 will do

    async def _go_on(self, pending: "Pending", lost: Exchange, *, repeats: bool) -> Exchange:
        """Another exchange for the same request, once the server is there."""
        loop = asyncio.get_running_loop()
        deadline, pause, last = loop.time() + self._patience, FIRST_PAUSE, lost.last_event_id
        is_over = lost.status == NO_SESSION
        while loop.time() < deadline:
            try:
                if last is not None and not is_over:
                    if await _streams(resumed := pending.session.resume(pending.frame, last)):
                        return resumed
                    last = None
                if not repeats:
                    raise Ended(UNREACHABLE, "the connection was lost, and the server does not go on with its stream")
                if is_over:
                    await self._begin()
                again = self.begin(pending.method, pending.params)
                pending.session, pending.frame = again.session, again.frame
                if await _answers(exchange := pending.send()):
                    return exchange
                is_over = exchange.status == NO_SESSION
            except Lost:
                if pause == FIRST_PAUSE:
                    self.say("The connection is lost; trying to get it back.")
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        raise Ended(UNREACHABLE, f"{self._url} could not be reached for {self._patience:g} s")


@dataclass
class Pending:
    """A request, in the session that sends it."""

    session: CallerSession
    frame: Message

    @property
    def method(self) -> str:
        """Its method."""
        return str(self.frame["method"])

    @property
    def params(self) -> Mapping[str, Any]:
        """Its parameters."""
        return dict(self.frame["params"])

    def send(self) -> Exchange:
        """Sends it."""
        return self.session.start("POST", self.frame, resumes=True)


@asynccontextmanager
async def connect(url: str, token: str | None, patience: float) -> AsyncIterator[Connection]:
    """A connection that is yet to be opened."""
    timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS)
    async with httpx2.AsyncClient(timeout=timeout) as http:
        yield Connection(http, url, token, patience)


async def _streams(exchange: Exchange) -> bool:
    """Whether it is a stream that goes on."""
    await exchange.opened()
    return exchange.status == 200 and exchange.headers.get("content-type", "").startswith("text/event-stream")


async def _answers(exchange: Exchange) -> bool:
    """Whether it has been taken."""
    await exchange.opened()
    if exchange.status in (401, 403):
        raise Ended(REFUSED, REFUSALS[exchange.status])
    return _is_taken(exchange)


def _is_taken(exchange: Exchange) -> bool:
    """Whether the response means this request: a server that is busy, or about to go, is asked again."""
    return exchange.status < 500 and exchange.status not in (NO_SESSION, TOO_MANY)


def _refuse(reply: Reply) -> Message:
    raise Ended(REFUSED, _refusal(reply))


def _refusal(reply: Reply) -> str:
    error = (reply.message or {}).get("error")
    said = error.get("message") if isinstance(error, dict) else None
    default = f"the server answers with HTTP {reply.status}" + (f": {said}" if said else "")
    return REFUSALS.get(reply.status, default)


def _reason(error: BaseException) -> str:
    return str(error) or "it does not answer"
