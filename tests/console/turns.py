"""Counts round trips: a proxy that notes each time when a client sends something after the server has spoken."""

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Self

from tests.processes import HOST


class Turns:
    """Listens on a port of its own, ``url``, and passes everything on to the server at ``port``.

    ``count`` is the number of round trips, on all connections; a pipeline is one.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._server: asyncio.Server | None = None
        self._pumps: set[asyncio.Task[None]] = set()
        self.count = 0
        self.bytes = 0
        self.url = ""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, HOST, 0)
        self.url = f"redis://{HOST}:{self._server.sockets[0].getsockname()[1]}/0"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for pump in self._pumps:
            pump.cancel()
        await asyncio.gather(*self._pumps, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._pumps.add(task)
        task.add_done_callback(self._pumps.discard)
        server_reader, server_writer = await asyncio.open_connection(HOST, self._port)
        turn = asyncio.Event()  # set while it is the client's
        turn.set()
        try:
            replies = asyncio.create_task(self._pass_replies(server_reader, writer, turn))
            with suppress(OSError):
                while data := await reader.read(65536):
                    self.count += turn.is_set()
                    turn.clear()
                    server_writer.write(data)
                    await server_writer.drain()
        finally:
            replies.cancel()
            server_writer.close()
            writer.close()

    async def _pass_replies(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, turn: asyncio.Event
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                turn.set()
                self.bytes += len(data)
                writer.write(data)
                await writer.drain()
