"""A proxy between clients and a server, which loses replies, cuts connections and holds data back on demand."""

import asyncio
import shutil
import socket
import tempfile
from contextlib import suppress
from types import TracebackType
from typing import Self


class Proxy:
    """Listens on a unix socket, ``url``, and passes everything on to the one named ``target``.

    It counts the connections that it ``accepted``, and the ``replies`` that it passed on and that it ``lost``.
    """

    def __init__(self, target: str) -> None:
        self._target = target
        self._folder = tempfile.mkdtemp(prefix="proxy-")
        self.url = f"unix://{self._folder}/socket"
        self.accepted = 0
        self.replies = 0
        self.lost = 0
        self._replies_to_lose = 0
        self._flows = asyncio.Event()
        self._flows.set()
        self._holds = asyncio.Event()
        self._listener = socket.socket(socket.AF_UNIX)
        self._accepting: asyncio.Task[None] | None = None
        self._is_closing = False
        self._mute: set[asyncio.StreamWriter] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._listener.bind(f"{self._folder}/socket")
        self._listener.listen(128)
        self._listener.setblocking(False)
        self._accepting = asyncio.create_task(self._accept())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._stop_accepting()
        self.release()
        while self._connections:
            self.cut()
            await asyncio.wait(self._connections, timeout=0.1)
        shutil.rmtree(self._folder, ignore_errors=True)

    def lose_replies(self, count: int = 1) -> None:
        """The next ``count`` requests reach the server; in place of its reply, each finds its connection closed."""
        self._replies_to_lose = count

    def cut(self) -> None:
        """Closes all connections."""
        for writer in self._writers:
            writer.close()

    def lead_to(self, target: str) -> None:
        """New connections are passed on to there; those that are open stay."""
        self._target = target

    def mute(self) -> None:
        """Lets nothing more through to those who are connected now, who are not told; others are served."""
        self._mute = set(self._writers)

    def hold(self) -> None:
        """Lets no reply through until ``release``; requests still reach the server."""
        self._flows.clear()
        self._holds.clear()

    async def has_held_back(self) -> None:
        """Returns when there is a reply that ``hold`` keeps."""
        await self._holds.wait()

    def release(self) -> None:
        """Ends ``hold``."""
        self._flows.set()

    async def _accept(self) -> None:
        """Not left to ``asyncio.start_unix_server``, which may leak what it accepts while it is closed."""
        while True:
            accepted, _ = await asyncio.get_running_loop().sock_accept(self._listener)
            if self._is_closing:
                accepted.close()
                return
            self.accepted += 1
            connection = asyncio.create_task(self._serve(accepted))
            self._connections.add(connection)
            connection.add_done_callback(self._connections.discard)

    async def _stop_accepting(self) -> None:
        """A connection of its own is the last: what is cancelled could have accepted one by then."""
        self._is_closing = True
        with socket.socket(socket.AF_UNIX) as last:
            last.setblocking(False)
            await asyncio.get_running_loop().sock_connect(last, f"{self._folder}/socket")
            if self._accepting is not None:
                await self._accepting
        self._listener.close()

    async def _serve(self, accepted: socket.socket) -> None:
        reader, writer = await asyncio.open_unix_connection(sock=accepted)
        self._writers.add(writer)
        try:
            with suppress(OSError):
                await self._join(reader, writer)
        finally:
            self._writers.discard(writer)
            await _close(writer)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_unix_connection(self._target)
        pumps = [
            asyncio.create_task(self._pass_requests(reader, server_writer)),
            asyncio.create_task(self._pass_replies(server_reader, writer)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            await _close(server_writer)

    async def _pass_requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()

    async def _pass_replies(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if self._replies_to_lose > 0:
                self._replies_to_lose -= 1
                self.lost += 1
                return
            if not self._flows.is_set():
                self._holds.set()
            await self._flows.wait()
            if writer in self._mute:
                continue
            self.replies += 1
            writer.write(data)
            await writer.drain()


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
