"""Asks whoever sits at the terminal, line by line, while everything else goes on.

A line is read when it is there, so that a question can be given up: no thread is left that waits for a line.
"""

import asyncio
import os
import sys
from dataclasses import dataclass, field

from ops.calling.display import Display

CHUNK = 4096


@dataclass(eq=False)
class _Reader:
    prompt: str
    line: "asyncio.Future[str | None]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Terminal:
    """stdin and stderr.  The newest question gets the line; behind it the older one is asked again."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._readers: list[_Reader] = []

    @staticmethod
    def is_there() -> bool:
        """Whether a person can be asked."""
        return sys.stdin.isatty() and sys.stderr.isatty()

    def write(self, text: str) -> None:
        """Writes text of ours, or such that was escaped."""
        sys.stderr.write(text)
        sys.stderr.flush()

    async def read(self, prompt: str) -> str | None:
        """A line without its end; None where the person ends the input (Ctrl-D)."""
        reader = _Reader(prompt)
        with self._display.quiet():
            self._ask(reader)
            try:
                return await reader.line
            finally:
                self._leave(reader)

    def _ask(self, reader: _Reader) -> None:
        if self._readers:
            self.write("\n")
        else:
            asyncio.get_running_loop().add_reader(sys.stdin.fileno(), self._take)
        self._readers.append(reader)
        self.write(reader.prompt)

    def _take(self) -> None:
        data = os.read(sys.stdin.fileno(), CHUNK)  # a whole line: the terminal lets it be edited before
        reader = next((reader for reader in reversed(self._readers) if not reader.line.done()), None)
        if reader is not None:
            reader.line.set_result(data.decode(errors="replace").rstrip("\r\n") if data else None)

    def _leave(self, reader: _Reader) -> None:
        was_newest = reader is self._readers[-1]
        self._readers.remove(reader)
        if not reader.line.done() or reader.line.cancelled() or reader.line.result() is None:
            self.write("\n")
        if not self._readers:
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        elif was_newest:
            self.write(self._readers[-1].prompt)
