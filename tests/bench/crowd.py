"""Many open streams: GET streams of sessions, one each, on which nothing is said."""

import asyncio
from types import TracebackType
from typing import Self

from tests.scale.wire import Line, Peer, begin

OPENERS = 32


class Crowd:
    """Sessions of who has ``token``, each with a stream that is opened again when its time is over."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._token = token
        self._streams: list[asyncio.Task[None]] = []

    async def grow(self, count: int, seconds: float) -> None:
        """Returns when so many are open; raises what ended one that was.

        They come one by one in so many seconds, and so does whatever the server does for each at times of its own.
        """
        openers = asyncio.Semaphore(OPENERS)
        for stream in self._streams:
            if stream.done():
                stream.result()
        opened = [asyncio.Event() for _ in range(count - len(self._streams))]
        for event in opened:
            self._streams.append(asyncio.create_task(self._stay(event, openers)))
            await asyncio.sleep(seconds / len(opened))
        for event in opened:
            await event.wait()

    async def _stay(self, opened: asyncio.Event, openers: asyncio.Semaphore) -> None:
        try:
            async with openers:
                peer = await begin(self._url, self._token)
                line = await self._open(peer)
        finally:
            opened.set()
        while True:
            async with line:
                async for _ in line.events():
                    pass
            line = await self._open(peer)

    async def _open(self, peer: Peer) -> Line:
        line = await Line.open(peer)
        await line.send("GET")
        assert line.status == 200, line.status
        return line

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for stream in self._streams:
            stream.cancel()
        await asyncio.gather(*self._streams, return_exceptions=True)
