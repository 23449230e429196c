"""One HTTP response, made of what comes: JSON if the answer comes soon and alone, else an event stream."""

import asyncio
import math
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from starlette.types import Receive, Send

from receiver.cancellation import cancel_all
from receiver.http.refusal import Headers
from receiver.http.stream import EventStream

AT_ONCE_SECONDS = 1.0  # a stream that opens at once does so when it is heard, or after that
KEEP_ALIVE_SECONDS = 15.0
LONGEST_STREAM_SECONDS = 900.0  # then the connection is closed, and the client goes on with another (H-10)

_JSON = (b"content-type", b"application/json")


@dataclass(frozen=True, slots=True)
class Part:
    """A JSON-RPC message for the client, or none yet, only the news that the stream is heard from now on.

    ``position`` is where the client may go on after it; the last is the answer.  One that ``closes`` is no message: the
    connection ends there, if the client can go on.
    """

    position: str
    data: bytes
    is_last: bool = False
    closes: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """How an answer may look.  ``opens_after``: seconds until a stream is opened although nothing came; None = never.

    ``at_once``: it is opened when it is heard.  ``name_event`` gives the id of an event at a position, ``start`` is the
    first one; ``is_primed``: the stream begins with an event of its own.
    """

    opens_after: float | None
    takes_json: bool
    name_event: Callable[[str], str]
    is_primed: bool
    at_once: bool = False
    start: str = ""
    headers: Headers = ()


async def respond(send: Send, status: int, body: bytes = b"", headers: Headers = ()) -> None:
    """A whole response at once."""
    head = [*headers, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": [_JSON, *head] if body else head})
    await send({"type": "http.response.body", "body": body})


class Reply:
    """Sends ``parts`` as they come.  A client that goes away ends its wait, and nothing else (H-14)."""

    def __init__(self, receive: Receive, send: Send, form: Form) -> None:
        self._receive = receive
        self._send = send
        self._form = form
        self._stream: EventStream | None = None
        self._is_complete = False

    async def send(self, parts: AsyncGenerator[Part]) -> None:
        """Sends all, and ends.  Parts that end without a last one leave the request without an answer (L-07).

        The web server cancels it when its grace period is over: the client comes back to go on elsewhere (H-10), or
        CancelledError is raised, if it could not.
        """
        gone = asyncio.create_task(self._wait_for_disconnect())
        try:
            async with aclosing(parts):
                await self._send_parts(parts, gone)
            if not gone.done():
                await self._end()
        except asyncio.CancelledError:
            await self._send_away()
        finally:
            await cancel_all([gone])

    async def _send_parts(self, parts: AsyncGenerator[Part], gone: "asyncio.Task[None]") -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + LONGEST_STREAM_SECONDS if self._form.is_primed else math.inf
        opens = None if self._form.opens_after is None else loop.time() + self._form.opens_after
        coming = asyncio.ensure_future(_next(parts))
        try:
            while not gone.done() and (loop.time() < end or self._stream is None):
                await asyncio.wait({coming, gone}, timeout=self._patience(opens), return_when=asyncio.FIRST_COMPLETED)
                if coming.done():
                    part = coming.result()
                    if part is None or await self._send_part(part):
                        return
                    coming = asyncio.ensure_future(_next(parts))
                elif not gone.done():
                    await self._show_life()
        finally:
            await cancel_all([coming])

    def _patience(self, opens: float | None) -> float | None:
        """Seconds until the client has to see something."""
        if self._stream is not None:
            return KEEP_ALIVE_SECONDS
        return None if opens is None else max(0.0, opens - asyncio.get_running_loop().time())

    async def _send_part(self, part: Part) -> bool:
        """Sends a part; returns whether it was the last on this connection."""
        if part.closes:
            return await self._close(part)
        if not part.data:
            if self._form.at_once and self._stream is None:
                await self._open()
        elif part.is_last and self._stream is None and self._form.takes_json:
            self._is_complete = True
            await respond(self._send, 200, part.data, self._form.headers)
        elif self._form.opens_after is not None or part.is_last:
            stream = self._stream or await self._open()
            await stream.write(self._form.name_event(part.position) if self._form.is_primed else None, part.data)
        return part.is_last

    async def _close(self, part: Part) -> bool:
        if not self._form.is_primed:
            return False
        stream = self._stream or await self._open()
        await stream.mark(self._form.name_event(part.position))  # or its client would come to this part again
        return True

    async def _show_life(self) -> None:
        if self._stream is None:
            await self._open()
        else:
            await self._stream.keep_alive()

    async def _open(self) -> EventStream:
        form = self._form
        priming = form.name_event(form.start) if form.is_primed else None
        self._stream = await EventStream.open(self._send, form.headers, priming)
        return self._stream

    async def _send_away(self) -> None:
        if self._stream is None and not self._is_complete:
            if self._form.opens_after is None or not self._form.is_primed:
                raise asyncio.CancelledError
            await self._open()
        await self._end()

    async def _end(self) -> None:
        if not self._is_complete:
            # One that was never opened has nothing to go on with.
            stream = self._stream or await EventStream.open(self._send, self._form.headers, None)
            await stream.end()

    async def _wait_for_disconnect(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass


async def _next(parts: AsyncGenerator[Part]) -> Part | None:
    return await anext(parts, None)
