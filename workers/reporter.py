"""Writes what a run says of itself: at once, but never more often than ten times a second."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

import structlog

from receiver.protocol.errors import ReceiverError
from receiver.store.scripts import Argument

PAUSE_SECONDS = 0.1

Write = Callable[[Mapping[str, Argument]], Awaitable[object]]

log = structlog.get_logger(__name__)


class Reporter:
    """Merges fields that come faster than they may be written; the last value of each is always written."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._pending: dict[str, Argument] = {}
        self._writing: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    def report(self, fields: Mapping[str, Argument]) -> None:
        """Has ``fields`` written soon."""
        if self._closing.is_set():
            return
        self._pending.update(fields)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_pending())

    async def close(self) -> None:
        """Returns when all is written."""
        self._closing.set()
        if self._writing is not None:
            await self._writing

    async def _write_pending(self) -> None:
        while self._pending:
            fields, self._pending = self._pending, {}
            try:
                await self._write(fields)
            except ReceiverError as error:  # a full store keeps the run, but not its remarks
                log.warning("report_dropped", error=str(error))
            except Exception:  # nor may a remark cost the run its outcome
                log.exception("report_failed")
            with suppress(TimeoutError):
                async with asyncio.timeout(PAUSE_SECONDS):
                    await self._closing.wait()
