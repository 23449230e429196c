"""Ends asyncio tasks for good."""

import asyncio
from collections.abc import Collection
from typing import Any

AGAIN_SECONDS = 0.1


async def cancel_all(tasks: "Collection[asyncio.Future[Any]]") -> None:
    """Cancels tasks until they are done, and looks at what they raise.

    Once is not enough: before Python 3.12 ``asyncio.wait_for``, which libraries use, may swallow a cancellation.
    """
    ending = list(tasks)
    while pending := {task for task in ending if not task.done()}:
        for task in pending:
            task.cancel()
        await asyncio.wait(pending, timeout=AGAIN_SECONDS)
    await asyncio.gather(*ending, return_exceptions=True)
