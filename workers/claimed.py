"""What every Context of a run has, wherever its tool runs: what the claim says, and a way from threads to the loop."""

import asyncio
import threading
from abc import ABC
from collections.abc import Coroutine
from typing import Any, TypeVar

import orjson

from receiver.context import Context, SyncContext
from receiver.principal import Principal
from receiver.store.record import ClaimedRun

T = TypeVar("T")


class ClaimedContext(Context, ABC):
    """Made on the event loop, usable from any thread."""

    def __init__(self, claim: ClaimedRun, state: Any) -> None:
        self._claim = claim
        self._principal = Principal.from_json(orjson.loads(claim.fields["principal"]))
        self._state = state
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()

    @property
    def task_id(self) -> str | None:
        return self._claim.task_id if self._claim.kind == "task" else None

    @property
    def run(self) -> int:
        return self._claim.run

    @property
    def attempt(self) -> int:
        return self._claim.attempt

    @property
    def state(self) -> Any:
        return self._state

    @property
    def principal(self) -> Principal:
        return self._principal

    @property
    def sync(self) -> SyncContext:
        return SyncContext(self, self._block_on)

    def _block_on(self, work: Coroutine[Any, Any, T]) -> T:
        if threading.get_ident() == self._loop_thread:
            work.close()
            raise RuntimeError("ctx.sync is for plain functions; an async tool would wait for itself for ever")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
