"""What arq's ``run_job`` asks Redis for when it starts a job, answered from the claim.

A claim brought the job along, so there is no round trip; and there is no MULTI, which a full store would refuse.
"""

from contextvars import ContextVar
from types import TracebackType
from typing import Any

from receiver.store.record import ClaimedRun
from workers.roster import ActiveRun

CURRENT: ContextVar[ActiveRun | None] = ContextVar("current_run", default=None)
"""The run that the code of this asyncio task belongs to, and with it the fence of all that it writes."""


class Handover:
    """Stands where ``run_job`` expects a pool: one pipeline that reads the job and counts its tries."""

    def __init__(self, claim: ClaimedRun) -> None:
        self._claim = claim

    def pipeline(self, transaction: bool = True) -> "Handover":
        return self

    async def __aenter__(self) -> "Handover":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return None

    def get(self, key: str) -> None:
        """Queued by ``run_job``: the job."""

    def incr(self, key: str) -> None:
        """Queued by ``run_job``: its tries, which ``attempt`` counts instead."""

    def expire(self, key: str, seconds: int) -> None:
        """Queued by ``run_job``: the life of that counter."""

    async def execute(self) -> list[Any]:
        """The three answers."""
        return [self._claim.job, self._claim.attempt, True]
