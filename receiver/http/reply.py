"""One HTTP response, made of what comes: JSON if the answer comes soon and alone, else an event stream."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import structlog
from starlette.types import Receive, Send

from receiver.cancellation import AGAIN_SECONDS
from receiver.http.refusal import Headers
from receiver.http.stream import EventStream

AT_ONCE_SECONDS = 1.0  # a stream that opens at once does so when it is heard, or after that
KEEP_ALIVE_SECONDS = 15.0
LONGEST_STREAM_SECONDS = 900.0  # then the connection is closed, and the client goes on with another (H-10)

log = structlog.get_logger(__name__)

_JSON = (b"content-type", b"application/json")


@dataclass(frozen=True, slots=True)
class Part:
    """A JSON-RPC message for the client, or none yet, only the news that the stream is heard from now on.

    ``position`` is where the client may go on after it; the last is the answer.  One that ``closes`` is no message: the
    connection ends there, if the client can go on.  A last one without data ends the stream without an answer (L-07).
    """

    position: str
    data: bytes
    is_last: bool = False
    closes: bool = False


class Parts(Protocol):
    """What is sent, as it comes."""

    async def next(self, until: float) -> Part | None:
        """The next one; None if there is none by that time of the event loop."""

    def stop(self) -> Part | None:
        """The last one for a client that cannot come back for the rest; None where nothing can be said."""

    def close(self) -> None:
        """No more of them are wanted."""


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

    __slots__ = ("_cancels", "_form", "_is_complete", "_is_gone", "_parts", "_receive", "_send", "_stream", "_waiting")

    def __init__(self, receive: Receive, send: Send, form: Form, parts: Parts) -> None:
        self._parts = parts
        self._receive = receive
        self._send = send
        self._form = form
        self._stream: EventStream | None = None
        self._is_complete = False
        self._is_gone = False
        self._waiting: asyncio.Task[object] | None = None  # while there is nothing to send
        self._cancels = 0

    async def send(self) -> None:
        """Sends all, up to the last, and ends.

        The web server cancels it when its grace period is over: the client comes back to go on elsewhere (H-10), or
        is told that there is no answer, if it could not.
        """
        watching = asyncio.create_task(self._watch())
        try:
            await self._send_parts()
            if not self._is_gone:
                await self._end()
        except asyncio.CancelledError:
            if not self._is_gone:
                await self._send_away()
        finally:
            self._parts.close()
            watching.cancel()
            if self._cancels:
                self._take_back()

    async def _send_parts(self) -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        end = loop.time() + LONGEST_STREAM_SECONDS if self._form.is_primed else math.inf
        shows = math.inf if self._form.opens_after is None else loop.time() + self._form.opens_after
        while not self._is_gone and (self._stream is None or loop.time() < end):
            self._waiting = task
            try:
                part = await self._parts.next(shows)
            finally:
                self._waiting = None
            if self._is_gone:
                return
            if part is None:
                await self._show_life()
            elif await self._send_part(part):
                return
            if self._stream is not None:
                shows = loop.time() + KEEP_ALIVE_SECONDS

    async def _watch(self) -> None:
        """Waits for the client to go away, and ends the wait for the next part then, but nothing that is being sent."""
        try:
            while (await self._receive())["type"] != "http.disconnect":
                pass
        except Exception:
            log.debug("receive_failed", exc_info=True)  # whatever it is, there is nobody left to hear
        self._is_gone = True
        while self._waiting is not None:  # a library may swallow it, as in ``cancel_all``
            self._waiting.cancel()
            self._cancels += 1
            await asyncio.sleep(AGAIN_SECONDS)

    def _take_back(self) -> None:
        """Whoever called was not cancelled: that was our way out of a wait."""
        task = asyncio.current_task()
        while task is not None and self._cancels:
            task.uncancel()
            self._cancels -= 1

    async def _send_part(self, part: Part) -> bool:
        """Sends a part; returns whether it was the last on this connection."""
        if part.closes:
            return await self._close(part)
        if not part.data:
            if self._form.at_once and self._stream is None and not part.is_last:
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
            if self._form.opens_after is not None and self._form.is_primed:
                await self._open()
            elif (last := self._parts.stop()) is not None:
                await self._send_part(last)
            else:
                raise asyncio.CancelledError
        await self._end()

    async def _end(self) -> None:
        if not self._is_complete:
            # One that was never opened has nothing to go on with.
            stream = self._stream or await EventStream.open(self._send, self._form.headers, None)
            await stream.end()
