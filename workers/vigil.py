"""The vigil over one run: until its work is done, or it has to be stopped, or it is parked.

Its timeout counts while it runs, its ttl always.  A run of a tool with ``replay=True`` that has done nothing but wait
for long enough is parked: it leaves memory, and what it waits for brings its task back, on any worker.
"""

import asyncio
from math import inf

from receiver.operation import Operation
from receiver.store.runs import RunStore
from workers.ending import Ending
from workers.roster import ActiveRun, StopReason

DAY_SECONDS = 86_400.0  # not every event loop takes a timer of months


class Vigil:
    """Kept over ``work``, the function of a run.  ``park_after``: seconds of waiting after which it may be parked."""

    def __init__(
        self,
        runs: RunStore,
        active: ActiveRun,
        operation: Operation,
        work: "asyncio.Future[Ending]",
        park_after: float,
    ) -> None:
        self._runs = runs
        self._active = active
        self._work = work
        self._park_after = park_after
        self._parks = operation.replay and active.claim.kind == "task"
        self._refused_at = -inf  # in seconds since the run began
        self._turn: asyncio.Future[None] | None = None
        self._is_changed = False

    async def keep(self) -> StopReason | None:
        """Returns None when the work is done, or why it has to be stopped."""
        active = self._active
        active.on_change = self._wake
        active.waits.on_turn = self._wake
        active.is_watched = True
        self._work.add_done_callback(self._wake)
        try:
            return await self._keep(active)
        finally:
            self._work.remove_done_callback(self._wake)
            active.is_watched = False

    async def _keep(self, active: ActiveRun) -> StopReason | None:
        while True:
            self._is_changed = False
            if active.waits.is_waiting and active.stop_reason is None:
                await self._release()
            await self._rest(min(self._time_left()[0], self._park_in()))
            if self._work.done() and active.stop_reason in (None, "shutdown"):  # what was done need not be done again
                return None
            left, at_limit = self._time_left()
            if left <= 0:
                active.stop(at_limit)
            if active.stop_reason is not None:
                return active.stop_reason

    async def _rest(self, seconds: float) -> None:
        """Returns when the work is done, something changed, or the time is over."""
        if self._active.stop_reason is not None or self._is_changed or self._work.done():
            return
        loop = asyncio.get_running_loop()
        self._turn = loop.create_future()
        timer = loop.call_later(min(seconds, DAY_SECONDS), self._wake)
        try:
            await self._turn
        finally:
            timer.cancel()

    def _wake(self, _: object = None) -> None:
        self._is_changed = True
        if self._turn is not None and not self._turn.done():
            self._turn.set_result(None)

    def _time_left(self) -> tuple[float, StopReason]:
        """Seconds until the run has to be stopped if it goes on as it is, and what it is stopped for then."""
        claim, waits = self._active.claim, self._active.waits
        until_expiry = claim.remaining / 1000 - waits.elapsed
        left = self._active.time_left
        if left is not None and left < until_expiry:
            return max(0.0, left), "timeout"
        return max(0.0, until_expiry), "expired"

    def _park_in(self) -> float:
        """Seconds until parking is tried."""
        waits = self._active.waits
        if not self._parks or not waits.is_waiting:
            return inf
        since = max(waits.elapsed - waits.waiting, self._refused_at)
        return max(0.0, since + self._park_after - waits.elapsed)

    async def _release(self) -> None:
        """Parks the run if it is time to; a worker that leaves hands back what only waits and may be run again."""
        active = self._active
        if self._parks and (active.is_leaving or self._park_in() <= 0):
            claim = active.claim
            if await self._runs.park(claim.task_id, claim.run, active.waits.calls):
                active.stop("parked")
                return
            self._refused_at = active.waits.elapsed
            active.on_news()
        if active.is_leaving and active.waits.is_waiting and active.may_run_again:
            active.stop("shutdown")
