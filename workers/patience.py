"""Waits for work, but not for ever."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def wait_until(
    event: asyncio.Event, work: Coroutine[Any, Any, T], seconds: float | None = None
) -> "asyncio.Future[T]":
    """Waits for ``work``, but not beyond ``event`` or ``seconds``; returns its future, cancelled if it is not done."""
    working, ending = asyncio.ensure_future(work), asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({working, ending}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return working
    finally:
        for waiting in (working, ending):
            waiting.cancel()
