"""Writes what a run says of itself: at once, but never more often than ten times a second."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

import structlog

from receiver.protocol.errors import ReceiverError
from receiver.store.runs import Notice
from receiver.store.scripts import Argument

PAUSE_SECONDS = 0.1

MOST_NOTICES = 128

Write = Callable[[Mapping[str, Argument], Sequence[Notice]], Awaitable[object]]

log = structlog.get_logger(__name__)


class Reporter:
    """Merges fields that come faster than they may be written; the last value of each is always written."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._pending: dict[str, Argument] = {}
        self._notices: list[Notice] = []
        self._writing: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    def report(self, fields: Mapping[str, Argument]) -> None:
        """Has ``fields`` written soon."""
        if not self._closing.is_set():
            self._pending.update(fields)
            self._start()

    def say(self, notice: Notice, *, most: int = MOST_NOTICES) -> None:
        """Has a message sent soon.  Of those that wait to be sent, ``most`` of its kind at most: the newest (L-08)."""
        if self._closing.is_set():
            return
        alike = [waiting for waiting in self._notices if (waiting.rank is None) == (notice.rank is None)]
        if len(alike) >= most:
            self._notices.remove(alike[0])
        self._notices.append(notice)
        self._start()

    def _start(self) -> None:
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_pending())

    async def close(self) -> None:
        """Returns when all is written."""
        self._closing.set()
        if self._writing is not None:
            await self._writing

    async def _write_pending(self) -> None:
        while self._pending or self._notices:
            fields, self._pending = self._pending, {}
            notices, self._notices = self._notices, []
            try:
                await self._write(fields, notices)
            except ReceiverError as error:  # a full store keeps the run, but not its remarks
                log.warning("report_dropped", error=str(error))
            except Exception:  # nor may a remark cost the run its outcome
                log.exception("report_failed")
            with suppress(TimeoutError):
                async with asyncio.timeout(PAUSE_SECONDS):
                    await self._closing.wait()
