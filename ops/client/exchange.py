"""One HTTP request in flight, read in the background: a POST, or a GET stream."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

import httpx2

from ops.client.reply import Reply
from ops.client.stream import Event, Message, Parser, read_message
from ops.client.violation import Violation

JSON, STREAM = "application/json", "text/event-stream"
Found = TypeVar("Found")
Waiting = Callable[[str], AbstractContextManager[None]]


class Exchange:
    """``sent`` is what it carried.  ``hear`` is told of every message that is not the answer to ``sent``.

    A stream that the server closes before the answer, behind an event with an id, is resumed as the specification has
    it (H-10): ``resume`` makes the request for that, None where it is not to be.  ``waiting`` notes what
    is waited for.  ``keeps``: whether ``events`` and ``messages`` are kept, which may become many.
    """

    def __init__(
        self,
        http: httpx2.AsyncClient,
        request: httpx2.Request,
        sent: object,
        hear: Callable[["Exchange", Message], None],
        resume: Callable[[str], httpx2.Request] | None,
        waiting: Waiting,
        *,
        keeps: bool = True,
    ) -> None:
        self.sent = sent
        self.status = 0
        self.headers: httpx2.Headers = httpx2.Headers()
        self.body = b""
        self.events: list[Event] = []
        self.messages: list[Message] = []
        self.answer: Message | None = None
        self.ended = False
        self.last_event_id: str | None = None  # that of the last event that had one
        self._retry_ms = 0
        self._keeps = keeps
        self._http = http
        self._request = request
        self._hear = hear
        self._resume = resume
        self._waiting = waiting
        self._fault: Exception | None = None
        self._news = asyncio.Condition()
        self._reading = asyncio.create_task(self._read())

    @property
    def label(self) -> str:
        """What it is, in a few words."""
        method = self.sent.get("method", "answer") if isinstance(self.sent, dict) else f"{self.sent!r:.100}"
        return self._request.method if self.sent is None else f"{self._request.method} {method}"

    async def opened(self) -> "Exchange":
        """Itself, when the head of the response is there."""
        with self._waiting(f"the head of the response to {self.label}"):
            await self.until(lambda: self.status or None)
        return self

    async def reply(self) -> Reply:
        """The reply, when the answer is there or the response ended without one."""
        with self._waiting(f"the answer to {self.label}"):
            await self.until(lambda: self.answer)
        messages = [message for message in self.messages if message is not self.answer]
        headers = {name.lower(): value for name, value in self.headers.items()}
        return Reply(self._request.method, self.sent, self.status, headers, self.body, self.answer, tuple(messages))

    async def message(self, method: str, count: int = 1) -> Message:
        """The message number ``count`` with this method on this stream; a Violation if the stream ends before."""

        def find() -> Message | None:
            found = [message for message in self.messages if message.get("method") == method]
            return found[count - 1] if len(found) >= count else None

        with self._waiting(f"{method} number {count} on the stream of {self.label}"):
            found = await self.until(find)
        if found is None:
            raise Violation(f"a stream ended before {method} number {count} came on it; it was sent: {self.messages}")
        return found

    async def until(self, find: Callable[[], Found | None]) -> Found | None:
        """What ``find`` gives, as soon as it gives something; None when the response has ended without."""
        async with self._news:
            while (found := find()) is None and not self.ended:
                await self._news.wait()
        if found is None and self._fault is not None:
            raise self._fault
        return found

    async def end(self) -> None:
        """Returns when the server has ended the response."""
        with self._waiting(f"the end of the response to {self.label}"):
            await self.until(lambda: None)

    async def drop(self) -> None:
        """Drops the connection."""
        self._reading.cancel()
        await asyncio.wait([self._reading])

    async def _read(self) -> None:
        try:
            await self._follow(self._request)
            while self.answer is None and self._resume is not None and (last := self.last_event_id) is not None:
                await asyncio.sleep(self._retry_ms / 1000)  # H-11
                if not await self._follow(self._resume(last)):
                    break
        except (httpx2.TransportError, Violation) as error:
            self._fault = error
        finally:
            self.ended = True
            await self._tell()

    async def _follow(self, request: httpx2.Request) -> bool:
        """Reads one response to its end; whether it was a stream."""
        response = await self._http.send(request, stream=True)
        try:
            if not self.status:
                self.status, self.headers = response.status_code, response.headers
                await self._tell()
            is_stream = response.headers.get("content-type", "").startswith(STREAM)
            if is_stream and response.status_code == 200:
                await self._read_events(response)
                return True
            if request is self._request:
                self._read_body(await response.aread(), response)
            return False
        finally:
            await response.aclose()

    def _read_body(self, body: bytes, response: httpx2.Response) -> None:
        self.body = body
        if body and response.headers.get("content-type", "").startswith(JSON):
            try:
                self.answer = read_message(body)
            except Violation:
                if response.status_code < 400:  # the body of a refusal may be anything
                    raise
            else:
                self.messages.append(self.answer)

    async def _read_events(self, response: httpx2.Response) -> None:
        parser = Parser()
        async for chunk in response.aiter_bytes():
            for event in parser.feed(chunk):
                self._take(event)
            await self._tell()

    def _take(self, event: Event) -> None:
        self.last_event_id = event.id or self.last_event_id
        self._retry_ms = max(self._retry_ms, event.retry or 0)
        message = event.message
        if self._keeps:
            self.events.append(event)
            self.messages.extend([] if message is None else [message])
        if message is None:
            return
        if "method" not in message and self._asked(message.get("id")) and self.answer is None:
            self.answer = message
        else:
            self._hear(self, message)

    def _asked(self, id: object) -> bool:
        return isinstance(self.sent, dict) and self.sent.get("id") == id and "method" in self.sent

    async def _tell(self) -> None:
        async with self._news:
            self._news.notify_all()
