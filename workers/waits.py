"""What a run waits for, and for how long it really ran.

A run that waits, and has no step under way, does nothing: it needs no slot, and its time stands still.  What a tool
does beside a wait in asyncio tasks of its own is not seen here.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Waits:
    """The waits of one run, changed on the event loop only.

    ``on_wait`` is called when it begins to do nothing but wait, ``on_turn`` when that begins or ends.
    """

    def __init__(self) -> None:
        self.on_wait: Callable[[], None] = lambda: None
        self.on_turn: Callable[[], None] = lambda: None
        self._calls: dict[asyncio.Event, str] = {}
        self._steps = 0
        self._began = time.monotonic()
        self._waited = 0.0
        self._waiting_since: float | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether the run does nothing but wait."""
        return self._waiting_since is not None

    @property
    def calls(self) -> list[str]:
        """What it waits for: the names of recorded calls."""
        return list(self._calls.values())

    @property
    def waiting(self) -> float:
        """For how many seconds it has done nothing but wait; 0 while it does something."""
        since = self._waiting_since  # once: other threads may ask, too
        return 0.0 if since is None else time.monotonic() - since

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._began

    @property
    def ran(self) -> float:
        """Seconds in which it did not wait."""
        return self.elapsed - self._waited - self.waiting

    @contextmanager
    def wait(self, call: str) -> Iterator[asyncio.Event]:
        """Waits for ``call`` in the block; the event is set when there may be news of it."""
        news = asyncio.Event()
        self._calls[news] = call
        self._turn()
        try:
            yield news
        finally:
            del self._calls[news]
            self._turn()

    @contextmanager
    def work(self) -> Iterator[None]:
        """Works in the block, whatever else the run waits for."""
        self._steps += 1
        self._turn()
        try:
            yield
        finally:
            self._steps -= 1
            self._turn()

    def notify(self) -> None:
        """Has every wait look again."""
        for news in self._calls:
            news.set()

    def _turn(self) -> None:
        waits = bool(self._calls) and not self._steps
        if waits == self.is_waiting:
            return
        self._waited += self.waiting
        self._waiting_since = time.monotonic() if waits else None
        self.on_turn()
        if waits:
            self.on_wait()
