"""A transport that gathers what is written in one turn of the event loop.

uvicorn writes the head of a response and its body one after the other, and uvloop sends each at once: two system calls,
two packets, and two awakenings of the client, where one would do.
"""

import asyncio
from typing import Any

LONGEST = 65_536  # bytes that are worth a copy


class GatheringTransport(asyncio.Transport):
    """``transport``, but for what is written: it goes out when the loop turns, or when it is much."""

    __slots__ = ("_gathered", "_loop", "_size", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._gathered: list[bytes] = []
        self._size = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not data:
            return
        if not self._gathered:
            self._loop.call_soon(self._flush)
        self._gathered.append(bytes(data))
        self._size += len(data)
        if self._size > LONGEST:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        self._gathered.clear()
        self._size = 0
        self._transport.abort()

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._transport.get_extra_info(name, default)

    def pause_reading(self) -> None:
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        self._transport.resume_reading()

    def is_reading(self) -> bool:
        return self._transport.is_reading()

    def get_write_buffer_size(self) -> int:
        return self._size + self._transport.get_write_buffer_size()

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._transport.set_protocol(protocol)

    def _flush(self) -> None:
        if self._gathered:
            data = self._gathered[0] if len(self._gathered) == 1 else b"".join(self._gathered)
            self._gathered.clear()
            self._size = 0
            self._transport.write(data)
