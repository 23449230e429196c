"""Ctrl-C while a call waits: the person chooses what becomes of it."""

import asyncio
import signal
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self

from ops.calling.call import Call
from ops.calling.outcome import CANCELLED, INTERRUPTED, Ended, Outcome
from ops.calling.terminal import Terminal

TASK_MENU = "\n[d]etach and let the task go on, [c]ancel it, or wait on with [Enter]? "
CALL_MENU = "\n[c]ancel the call, or wait on with [Enter]? "


class Interrupts:
    """Takes SIGINT while it is open.  Without a terminal, as at a second Ctrl-C, a task is left to go on."""

    def __init__(self, terminal: Terminal | None) -> None:
        self._terminal = terminal
        self._came = asyncio.Event()

    def __enter__(self) -> Self:
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._came.set)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)

    async def watch(self, call: Call, work: Coroutine[Any, Any, Outcome]) -> Outcome:
        """What ``work`` gives.  Raises Ended where the person leaves."""
        doing = asyncio.ensure_future(work)
        try:
            while True:
                await self._wait(doing)
                if doing.done():
                    return doing.result()
                await self._choose(call, doing)
        finally:
            doing.cancel()
            await asyncio.wait([doing])

    async def _choose(self, call: Call, doing: "asyncio.Future[Outcome]") -> None:
        choice = await self._ask(call, doing)
        if doing.done() or choice not in ("d", "c"):
            return
        if choice == "d" and call.task_id is not None:
            raise Ended(INTERRUPTED, "detached")
        await call.cancel()
        if call.task_id is None:
            raise Ended(CANCELLED, "the call was cancelled")

    async def _ask(self, call: Call, doing: "asyncio.Future[Outcome]") -> str:
        if self._terminal is None:
            return "d"
        menu = CALL_MENU if call.task_id is None else TASK_MENU
        asking = asyncio.ensure_future(self._terminal.read(menu))
        try:
            await self._wait(doing, asking)
            said = asking.result() if asking.done() else None
            return "d" if said is None else said.strip().lower()[:1]
        finally:
            asking.cancel()
            await asyncio.wait([asking])

    async def _wait(self, *others: "asyncio.Future[Any]") -> None:
        """Returns when one of them is done, or Ctrl-C was pressed, which then counts as seen."""
        coming = asyncio.ensure_future(self._came.wait())
        try:
            await asyncio.wait([coming, *others], return_when=asyncio.FIRST_COMPLETED)
        finally:
            coming.cancel()
        if not any(other.done() for other in others):
            self._came.clear()
