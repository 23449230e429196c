"""How an API node makes itself known to operators: it beats in the background, and takes itself away at its end."""

import asyncio
import os
import socket
import time
from contextlib import suppress
from typing import NoReturn

import orjson
import structlog

from receiver import __version__
from receiver.store.client import is_passing
from receiver.store.nodes import BEAT_SECONDS, NodeStore
from receiver.store.scripts import Argument
from receiver.waiters import Waiter, Waiters

SHOWN = 100  # waiters that a beat names, those that wait longest

log = structlog.get_logger(__name__)


class Presence:
    """The presence of one node of the app called ``app``.  ``url``: where it listens, ``""`` if that is not known."""

    def __init__(self, store: NodeStore, waiters: Waiters, *, app: str, url: str) -> None:
        self._store = store
        self._waiters = waiters
        self._fixed: dict[str, Argument] = {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "version": __version__,
            "app": app,
            "url": url,
        }
        self._is_draining = False
        self._changed = asyncio.Event()

    def drain(self) -> None:
        """Shows at once that the node is about to end."""
        self._is_draining = True
        self._changed.set()

    async def keep_beating(self) -> NoReturn:
        """Beats for ever; a store that is away is none of its business."""
        while True:
            self._changed.clear()
            try:
                await self._store.beat(self._describe())
            except Exception as error:
                if not is_passing(error):
                    log.warning("node_not_shown", error=str(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(BEAT_SECONDS):
                    await self._changed.wait()

    async def leave(self) -> None:
        """Takes the node away, when nothing beats any more; where that fails, its age does."""
        try:
            await self._store.leave()
        except Exception as error:
            log.warning("node_left_unheard", error=type(error).__name__)

    def _describe(self) -> dict[str, Argument]:
        waiters, now = self._waiters, time.monotonic()
        return {
            **self._fixed,
            "results": waiters.results,
            "calls": waiters.calls,
            "streams": waiters.streams,
            "draining": int(self._is_draining),
            "longest": orjson.dumps([_describe_waiter(waiter, now) for waiter in waiters.longest(SHOWN)]),
        }


def _describe_waiter(waiter: Waiter, now: float) -> dict[str, object]:
    """``waited`` in ms at the time of the beat: no clock but the store's counts."""
    return {
        "task": waiter.task_id,
        "kind": waiter.kind,
        "session": waiter.session,
        "owner": waiter.owner,
        "waited": round((now - waiter.since) * 1000),
    }
