"""Waiting for what is said on a channel: without a task or a lock of its own, since ten thousand may wait."""

import asyncio
import math
from typing import Protocol, Self

from receiver.telemetry import metrics

ACK_SECONDS = 1.0  # a subscription that is not acknowledged in time: read anyway


class Channel:
    """What is known of a channel, of the task if there is one, and who watches it."""

    __slots__ = ("is_acknowledged", "last_status", "task_id", "was_heard", "watches")

    def __init__(self, task_id: str | None) -> None:
        self.task_id = task_id
        self.watches: set[Watch] = set()
        self.is_acknowledged = False
        self.last_status = "working"  # where every task begins
        self.was_heard = False  # on this connection, or on one before it

    def acknowledge(self) -> None:
        """What is said on it from now on is heard."""
        self.is_acknowledged = True
        for watch in self.watches:
            watch.wake()

    def notify(self, source: str | None, word: str = "") -> None:
        """``source`` is what it is counted as; None for those who have not looked for the first time yet."""
        if source is not None:
            metrics.count_wakeups(source, len(self.watches))
        for watch in self.watches:
            watch.notify(word)


class Channels(Protocol):
    """Who has the channels: the hub."""

    def join(self, watch: "Watch", name: str, task_id: str | None) -> Channel:
        """For a watch that opens: its channel, wanted from now on."""

    def leave(self, watch: "Watch", name: str, channel: Channel) -> None:
        """For a watch that closes."""


class Watch:
    """One waiter's view of a channel, while it is open; one at a time can wait."""

    __slots__ = ("_channel", "_heard", "_hub", "_name", "_task_id", "_waiting")

    def __init__(self, hub: Channels, name: str, task_id: str | None) -> None:
        self._hub = hub
        self._name = name
        self._task_id = task_id
        self._channel: Channel | None = None
        self._heard: set[str] | None = None
        self._waiting: asyncio.Future[bool] | None = None

    @property
    def has_news(self) -> bool:
        """Whether ``wait`` would return at once."""
        return self._heard is not None

    async def open(self) -> None:
        """Returns when it is subscribed: what changes from then on is not missed."""
        channel = self._channel = self._hub.join(self, self._name, self._task_id)
        until = asyncio.get_running_loop().time() + ACK_SECONDS
        while not channel.is_acknowledged:
            is_late = not await self._sleep(until)
            self._heard = None  # the first look is still to come
            if is_late:
                return

    def close(self) -> None:
        """Hears nothing more."""
        if self._channel is not None:
            self._hub.leave(self, self._name, self._channel)
            self._channel = None

    async def __aenter__(self) -> Self:
        try:
            await self.open()
        except BaseException:
            self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def notify(self, word: str = "") -> None:
        """Makes the waiter look again."""
        if self._heard is None:
            self._heard = {word}
        else:
            self._heard.add(word)
        self.wake()

    def wake(self, is_news: bool = True) -> None:
        """Lets the one that waits see for itself."""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(is_news)

    async def wait(self, until: float = math.inf) -> set[str]:
        """Returns when there may be something new since it last returned, or at a time of the loop.

        What was said on the channel since then; with ``""`` if something may have been missed; nothing at that time.
        """
        while self._heard is None:
            if not await self._sleep(until):
                return set()
        heard, self._heard = self._heard, None
        return heard

    async def _sleep(self, until: float) -> bool:
        """Until it is woken, or that time has come: then False."""
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[bool] = loop.create_future()
        self._waiting = waiting
        timer = None if until == math.inf else loop.call_at(until, self.wake, False)
        try:
            return await waiting
        finally:
            self._waiting = None
            if timer is not None:
                timer.cancel()
