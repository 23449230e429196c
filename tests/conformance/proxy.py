"""An HTTP proxy before the nodes of a server, in this process, with a saboteur in it."""

import asyncio
import inspect
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any

import httpx2
import uvicorn

from ops.client.stream import Event, Parser
from tests.conformance.sabotage import Answer, Call, Head, Point, Saboteur, encode
from tests.processes import HOST

OF_ONE_HOP = {"connection", "content-length", "keep-alive", "transfer-encoding", "accept-encoding", "date", "server"}
AS_IT_IS: dict[str, Any] = {
    "log_config": None,
    "access_log": False,
    "proxy_headers": False,
    "server_header": False,
    "date_header": False,
    "timeout_keep_alive": 75,  # longer than the suite keeps a connection
}

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class Site(uvicorn.Server):
    """A server on the event loop of a test, to which signals are no business."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Sabotage:
    """A saboteur at work; None spoils nothing.  ``memory`` is its own; ``faults`` is what it raised."""

    def __init__(self, saboteur: Saboteur | None) -> None:
        self.memory: dict[str, Any] = {}
        self.faults: list[Exception] = []
        self._saboteur = saboteur

    async def spoil(self, point: Point, *given: Any) -> Any:
        """What the saboteur makes of the last of ``given``; that itself if this is not its point."""
        if self._saboteur is None or self._saboteur.point != point:
            return given[-1]
        try:
            made = self._saboteur.spoil(*given)
            return await made if inspect.isawaitable(made) else made
        except Exception as fault:
            self.faults.append(fault)
            raise


class Proxy:
    """The ASGI application that stands before the nodes, ``urls``, one port each."""

    def __init__(self, http: httpx2.AsyncClient, urls: Sequence[str], ports: Sequence[int], sabotage: Sabotage) -> None:
        self._http = http
        self._urls = urls
        self._ports = ports
        self._sabotage = sabotage

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        body = await _read_body(receive)
        headers = _end_to_end({name.decode().lower(): value.decode() for name, value in scope["headers"]})
        node = self._ports.index(scope["server"][1])
        call = Call(self._http, self._urls[node], scope["method"], headers, body, node, self._sabotage.memory)
        pump = asyncio.create_task(self._serve(call, send))
        gone = asyncio.create_task(_wait_for_disconnect(receive))
        try:
            await asyncio.wait([pump, gone], return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            if not pump.done():
                pump.cancel()
            await asyncio.wait([pump, gone])
        if not pump.cancelled():
            pump.result()

    async def _serve(self, call: Call, send: Send) -> None:
        if isinstance(answer := await self._sabotage.spoil("request", call), Answer):
            await _send_whole(send, Head(answer.status, answer.headers), answer.body)
            return
        request = self._http.build_request(call.verb, call.url, content=call.body, headers=call.headers)
        response = await self._http.send(request, stream=True)
        try:
            head = Head(response.status_code, _end_to_end(dict(response.headers)))
            is_stream = head.headers.get("content-type", "").startswith("text/event-stream")
            await self._sabotage.spoil("head", call, head)
            if is_stream:
                await self._pass_events(call, head, response, send)
            else:
                await _send_whole(send, head, await self._spoil_body(call, await response.aread()))
        finally:
            await response.aclose()

    async def _spoil_body(self, call: Call, body: bytes) -> bytes:
        try:
            message = json.loads(body)
        except ValueError:
            return body
        messages = await self._spoil_message(call, message)
        return b"".join(json.dumps(message).encode() for message in messages)

    async def _pass_events(self, call: Call, head: Head, response: httpx2.Response, send: Send) -> None:
        await _send_head(send, head)
        parser = Parser()
        async for chunk in response.aiter_bytes():
            for event in parser.feed(chunk):
                async for spoiled in self._spoil_event(call, event):
                    await send({"type": "http.response.body", "body": encode(spoiled), "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _spoil_event(self, call: Call, event: Event) -> AsyncIterator[Event]:
        events = [event]
        if event.message is not None:
            messages = await self._spoil_message(call, event.message)
            events = [replace(event, data=json.dumps(message)) for message in messages]
        for one in events:
            for spoiled in _listed(await self._sabotage.spoil("event", call, one)):
                yield spoiled

    async def _spoil_message(self, call: Call, message: Any) -> Sequence[Any]:
        return _listed(await self._sabotage.spoil("message", call, message))


@asynccontextmanager
async def sabotaged(urls: Sequence[str], saboteur: Saboteur | None) -> AsyncIterator[list[str]]:
    """URLs of proxies before ``urls``; None sabotages nothing.  What the saboteur raised comes at the end."""
    sabotage = Sabotage(saboteur)
    async with AsyncExitStack() as stack:
        limits = httpx2.Limits(max_connections=None, keepalive_expiry=None)
        client = httpx2.AsyncClient(timeout=None, limits=limits, trust_env=False, verify=False)
        http = await stack.enter_async_context(client)
        listeners = [stack.enter_context(socket.socket()) for _ in urls]
        for listener in listeners:
            listener.bind((HOST, 0))
        ports = [listener.getsockname()[1] for listener in listeners]
        await stack.enter_async_context(_serving(Proxy(http, urls, ports, sabotage), listeners))
        yield [f"http://{HOST}:{port}/mcp" for port in ports]
    if sabotage.faults:
        raise ExceptionGroup("the saboteur failed", sabotage.faults)


@asynccontextmanager
async def _serving(proxy: Proxy, listeners: list[socket.socket]) -> AsyncIterator[None]:
    site = Site(uvicorn.Config(proxy, interface="asgi3", lifespan="off", ws="none", **AS_IT_IS))
    serving = asyncio.create_task(site.serve(sockets=listeners))
    try:
        yield
    finally:
        site.should_exit = site.force_exit = True
        await serving


def _listed(made: Any) -> Sequence[Any]:
    return [] if made is None else made if isinstance(made, list) else [made]


def _end_to_end(headers: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name not in OF_ONE_HOP}


async def _read_body(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send_head(send: Send, head: Head) -> None:
    headers = [(name.encode(), value.encode()) for name, value in head.headers.items()]
    await send({"type": "http.response.start", "status": head.status, "headers": headers})


async def _send_whole(send: Send, head: Head, body: bytes) -> None:
    await _send_head(send, head)
    await send({"type": "http.response.body", "body": body})
