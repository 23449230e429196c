"""Notices that this process was told to stop although its event loop does not: a tool may be holding that up.

The C part of a signal handler writes the number of the signal to a descriptor whatever the main thread does, and
asyncio reads it there.  It passes through a thread on its way to asyncio.
"""

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

ENDING = (signal.SIGTERM, signal.SIGINT)


class SignalRelay(threading.Thread):
    """Stands before the running event loop of the main thread, from ``begin`` to ``end``.

    A signal handler that is added to the loop meanwhile may push it aside: then it notices nothing.
    """

    def __init__(self) -> None:
        super().__init__(name="signals", daemon=True)
        self._came: list[float] = []
        self._near, self._far = socket.socketpair()
        self._next = -1

    def begin(self) -> None:
        """Takes its place; in any thread but the main one it has none, and notices nothing."""
        if threading.current_thread() is threading.main_thread():
            self._far.setblocking(False)
            self._next = signal.set_wakeup_fd(self._far.fileno(), warn_on_full_buffer=False)
            self.start()

    def end(self) -> None:
        """Gives its place back."""
        if self.is_alive():
            current = signal.set_wakeup_fd(self._next, warn_on_full_buffer=False)
            if current != self._far.fileno():  # it was pushed aside
                signal.set_wakeup_fd(current, warn_on_full_buffer=False)
            self._far.shutdown(socket.SHUT_RDWR)
            self.join()
        self._near.close()
        self._far.close()

    def is_late(self, grace: float) -> bool:
        """Whether the process should have ended: ``grace`` seconds after the first signal, or after the second."""
        return len(self._came) > 1 or (bool(self._came) and time.monotonic() - self._came[0] > grace)

    def run(self) -> None:
        """The thread's work."""
        while numbers := self._near.recv(64):
            self._came.extend(time.monotonic() for number in numbers if number in ENDING)
            if self._next != -1:
                with suppress(OSError):  # it is full, so that the loop will wake up anyway
                    os.write(self._next, numbers)


@contextmanager
def relaying(is_wanted: bool) -> Iterator[SignalRelay]:
    """A relay that has its place in the block, if it ``is_wanted``; else it notices nothing."""
    relay = SignalRelay()
    if is_wanted:
        relay.begin()
    try:
        yield relay
    finally:
        relay.end()
