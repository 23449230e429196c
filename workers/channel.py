"""What a worker and the process of an isolated run say to each other: JSON objects, each behind its length.

::

    process                                   worker
    {"ready": true}                      ──▶          it has imported the app
                                         ◀──  {"run": {...}}                what shall be run
    {"call": 1, "do": "progress", ...}   ──▶          a method of the Context
                                         ◀──  {"answer": 1, "value": ...}   or "error": [type, text]
    {"drop": 1}                          ──▶          nobody waits for the answer any more
                                         ◀──  {"produce": 2}                the step of call 2 was not done yet
    {"produced": 2, "text": ...}         ──▶          its result as JSON; null if it failed
                                         ◀──  {"stop": true}                a moment before it is killed
    {"outcome": {...}}, {"retry": ...}   ──▶          the end of the run
                                                      it hangs up, and the process ends
"""

import asyncio
import socket
import struct
from collections.abc import Mapping
from typing import Any, Self

import orjson

from receiver.protocol.errors import ReplayDiverged, ToolError

LENGTH = struct.Struct(">I")

# What a Context may raise at the other side, by the name that goes over; anything else is a RuntimeError there.
PASSED_ON: dict[str, type[BaseException]] = {
    error.__name__: error for error in (ReplayDiverged, ToolError, TypeError, ValueError, asyncio.CancelledError)
}

Message = Mapping[str, Any]


class Channel:
    """One end of it.  ``limit``: the longest message that is sent or taken, in bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limit: int) -> None:
        self._reader = reader
        self._writer = writer
        self.limit = limit

    @classmethod
    async def open(cls, end: socket.socket, limit: int) -> Self:
        """On one end of a socket pair, which it closes in the end."""
        return cls(*await asyncio.open_unix_connection(sock=end), limit)

    async def receive(self) -> Message | None:
        """The next message, or None if the other side is gone.  ValueError for what is none."""
        try:
            (length,) = LENGTH.unpack(await self._reader.readexactly(LENGTH.size))
            if length > self.limit:
                raise ValueError(f"a message of {length} bytes")
            message = orjson.loads(await self._reader.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        if not isinstance(message, dict):
            raise ValueError("a message that is no object")
        return message

    def send(self, message: Message) -> None:
        """Has a message sent.  TypeError for what is not JSON, ValueError for what is too long."""
        body = orjson.dumps(message)
        if len(body) > self.limit:
            raise ValueError(f"{len(body)} bytes are too long; {self.limit} are allowed")
        self._writer.write(LENGTH.pack(len(body)) + body)

    async def drain(self) -> None:
        """Returns when most of what was sent is out."""
        try:
            await self._writer.drain()
        except ConnectionError:
            return

    def close(self) -> None:
        """Closes this end."""
        self._writer.close()
