"""A TCP proxy in front of the store, one for each process, and the faults of networks."""

import asyncio
import random
from contextlib import suppress
from typing import Literal

HOST = "127.0.0.1"
THROTTLED_BYTES = 512  # at once, of a throttled link
THROTTLED_PAUSE = 0.01

Direction = Literal["up", "down"]


class Link:
    """Listens on ``port`` and passes everything on to the ``target``, a port of the same host.

    ``replies_to_lose``: so many requests still reach the server, and find their connection closed instead of a reply.
    ``delay``: up to so many seconds for each piece.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._flows: dict[Direction, asyncio.Event] = {"up": asyncio.Event(), "down": asyncio.Event()}
        self.port = 0
        self.refuses = False
        self.throttled = False
        self.delay = 0.0
        self.replies_to_lose = 0
        self._muted = False
        self.heal()

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"redis://{HOST}:{self.port}/0"

    async def open(self) -> None:
        """Begins to listen."""
        self._server = await asyncio.start_server(self._serve, HOST, 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Ends it, and all connections."""
        if self._server is not None:
            self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def heal(self) -> None:
        """Ends all that is wrong with it."""
        self.refuses = self.throttled = False
        self.delay, self.replies_to_lose = 0.0, 0
        self._muted = False
        for flow in self._flows.values():
            flow.set()

    def cut(self) -> None:
        """Closes all connections, and refuses new ones until it is healed."""
        self.refuses = True
        for writer in self._writers:
            writer.transport.abort()

    def hold(self, *directions: Direction) -> None:
        """Lets nothing through, and closes nothing, until it is healed."""
        for direction in directions:
            self._flows[direction].clear()

    def mute(self) -> None:
        """Loses all messages to whoever has subscribed to anything, until it is healed; all else works."""
        self._muted = True

    def half_close(self) -> None:
        """Says to all clients that no more will come, and goes on taking what they send."""
        for writer in self._writers:
            with suppress(OSError, RuntimeError):
                writer.write_eof()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.current_task()
        assert connection is not None
        self._connections.add(connection)
        self._writers.add(writer)
        try:
            if not self.refuses:
                with suppress(OSError, RuntimeError):
                    await self._join(reader, writer)
        except asyncio.CancelledError:
            return  # the one who cancels waits, and asyncio would tell of it
        finally:
            self._connections.discard(connection)
            self._writers.discard(writer)
            writer.transport.abort()

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection(HOST, self._target)
        seen = Subscription()
        pumps = [
            asyncio.create_task(self._pump(reader, server_writer, "up", seen)),
            asyncio.create_task(self._pump(server_reader, writer, "down", seen)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            server_writer.transport.abort()
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)

    def _loses(self) -> bool:
        self.replies_to_lose -= 1
        return self.replies_to_lose >= 0

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        direction: Direction,
        seen: "Subscription",
    ) -> None:
        while data := await reader.read(65536):
            if direction == "up":
                seen.look(data)
            elif self._loses():
                return
            elif self._muted and seen.is_there:
                continue
            await self._flows[direction].wait()
            if self.delay:
                await asyncio.sleep(random.uniform(0, self.delay))  # noqa: S311 - not a secret
            await self._write(writer, data)

    async def _write(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        while self.throttled and len(data) > THROTTLED_BYTES:
            writer.write(data[:THROTTLED_BYTES])
            data = data[THROTTLED_BYTES:]
            await asyncio.sleep(THROTTLED_PAUSE)
        writer.write(data)
        await writer.drain()


class Subscription:
    """Whether a client has subscribed to anything over a connection, which then carries nothing else."""

    def __init__(self) -> None:
        self.is_there = False

    def look(self, data: bytes) -> None:
        """Looks at what it sends."""
        self.is_there = self.is_there or b"SUBSCRIBE" in data
