"""A command at a terminal of its own, and who types there."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from tests.acceptance.commands import RECEIVER
from tests.processes import ROOT

PATIENCE_SECONDS = 40.0
CTRL_C, CTRL_D = "\x03", "\x04"
# What makes a terminal the one whose Ctrl-C a process gets.
TAKE = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"


class Keyboard:
    """``shown`` is all that the terminal got so far."""

    def __init__(self, *words: str) -> None:
        self.shown = ""
        self._seen = 0
        self._end, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))
        env = {name: value for name, value in os.environ.items() if not name.startswith("RECEIVER_")}
        self._process = subprocess.Popen(
            [sys.executable, "-c", TAKE, *RECEIVER, *words],
            cwd=ROOT,
            env={**env, "TERM": "xterm"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._end)
        print(self.shown)

    def see(self, *texts: str) -> None:
        """Returns when these were shown, one behind the other, since what was seen before."""
        for text in texts:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while (place := self.shown.find(text, self._seen)) < 0:
                assert time.monotonic() < deadline, f"no {text!r} in {self.shown[self._seen :]!r}"
                assert self._read(), f"no {text!r} before the end: {self.shown[self._seen :]!r}"
            self._seen = place + len(text)

    def type(self, keys: str) -> None:
        """Types; Enter is a line feed."""
        os.write(self._end, keys.encode())

    def dialogue(self, *turns: Sequence[str]) -> None:
        """What is seen, and what is typed then, in turns."""
        for seen, typed in turns:
            self.see(seen)
            self.type(typed)

    def leave(self) -> int:
        """The exit code, when the command has ended."""
        while self._read():
            pass
        return self._process.wait(PATIENCE_SECONDS)

    def _read(self) -> bool:
        """Takes what there is, within a second; False at the end."""
        ready, _, _ = select.select([self._end], [], [], 1.0)
        if not ready:
            return True
        try:
            data = os.read(self._end, 65536)
        except OSError:  # how Linux says that nobody holds the other end
            return False
        self.shown += data.decode(errors="replace").replace("\r\n", "\n")
        return bool(data)
