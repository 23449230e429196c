"""The connection of one process to the store: calls scripts, and waits out a Redis that is away for a moment."""

import asyncio
import random
import time
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import (
    BusyLoadingError,
    ConnectionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
    TimeoutError,
)

from receiver.protocol.errors import Refused, Unavailable
from receiver.settings import AUDIT_EVENTS
from receiver.store.admission import Admission, to_refusal
from receiver.store.flights import Flights
from receiver.store.keys import Keys
from receiver.store.pool import note_failure, open_pool
from receiver.store.scripts import Argument, load
from receiver.telemetry import metrics

# What passes by itself: sent again until the caller's patience ends.  Every script may be sent twice.
PASSING = (
    ConnectionError,
    TimeoutError,
    BusyLoadingError,
    ReadOnlyError,
    OSError,
    asyncio.TimeoutError,
)
_PASSING_REPLIES = (
    "BUSY ",
    "CLUSTERDOWN ",
    "MASTERDOWN ",
    "MISCONF ",
    "NOREPLICAS ",
    "TRYAGAIN ",
    "UNBLOCKED ",
)  # those that redis-py has no class for

_KINDS: dict[str, tuple[type[BaseException], ...]] = {  # the first that fits
    "timeout": (TimeoutError, asyncio.TimeoutError),
    "loading": (BusyLoadingError,),
    "connection": (ConnectionError, OSError),
    "read_only": (ReadOnlyError,),
    "full": (OutOfMemoryError,),
    "script": (ResponseError,),
}

FIRST_PAUSE = 0.02
LONGEST_PAUSE = 0.5
ATTEMPT_SECONDS = 5.0
ATTEMPT_SHARE = 0.4  # of the caller's patience: a connection that is silent must leave time for another one
_DOUBLINGS = 10  # more change nothing, and would overflow in a long outage


def is_passing(error: BaseException) -> bool:
    """Whether the same command may succeed a moment later."""
    return isinstance(error, PASSING) or (isinstance(error, ResponseError) and str(error).startswith(_PASSING_REPLIES))


def kind_of(error: BaseException) -> str:
    """What an error is called among the metrics."""
    found = next((kind for kind, types in _KINDS.items() if isinstance(error, types)), "other")
    return "busy" if found == "script" and is_passing(error) else found


def pause_before(attempt: int) -> float:
    """Seconds to wait before the attempt after the ``attempt``-th: doubling up to half a second, with jitter."""
    pause = min(FIRST_PAUSE * 2.0 ** min(attempt, _DOUBLINGS), LONGEST_PAUSE)
    return pause * random.uniform(0.5, 1.0)  # noqa: S311 - not a secret


def connect(url: str, *, connections: int = 64) -> Redis:
    """A client with a bounded pool.

    It has no timeout of its own: redis-py would send by ``asyncio.wait_for``, which before Python 3.12 may swallow a
    cancellation.  Who calls sets one by ``asyncio.timeout``.
    """
    return open_pool(url, connections=connections)


class Client:
    """Calls scripts on one shard.  ``patience``: seconds to go on trying while Redis is away; None for ever.

    ``audit_events``: how many events the audit trail keeps; the same in all processes, 0 for no trail.
    """

    def __init__(
        self,
        redis: Redis,
        keys: Keys,
        *,
        patience: float | None = 5.0,
        with_flags: bool = True,
        audit_events: int = AUDIT_EVENTS,
    ) -> None:
        self.redis = redis
        self._attempt = ATTEMPT_SECONDS if patience is None else min(ATTEMPT_SECONDS, ATTEMPT_SHARE * patience)
        self._flights = Flights(redis, seconds=self._attempt)
        self.keys = keys
        self.patience = patience
        self.audit_events = audit_events
        self._with_flags = with_flags

    def with_patience(self, patience: float | None) -> "Client":
        """The same connection for callers of another patience."""
        options: dict[str, Any] = {"with_flags": self._with_flags, "audit_events": self.audit_events}
        return Client(self.redis, self.keys, patience=patience, **options)

    async def admit(self, admission: Admission, name: str, *arguments: Argument) -> Any:
        """Runs the script ``name`` for a request, if the request is admitted.

        Raises what ``call`` raises, SessionEnded, and Refused when there were too many requests.
        """
        answer = await self.call(name, *arguments, admission=admission)
        if isinstance(answer, list) and answer and answer[0] == b"refused":
            raise to_refusal(answer)
        return answer

    async def call(self, name: str, *arguments: Argument, admission: Admission | None = None) -> Any:
        """Runs the script ``name``.  Raises Unavailable when patience ends, Refused when the store is full."""
        deadline = None if self.patience is None else time.monotonic() + self.patience
        attempt = 0
        while True:
            try:
                head = () if admission is None else admission.to_arguments(is_repeated=attempt > 0)
                evaluating = self.evaluate(name, *head, *arguments, admitted=admission is not None)
                if not attempt:
                    return await evaluating  # its flight has a limit of its own
                async with asyncio.timeout(self._limit_attempt(deadline)):
                    return await evaluating
            except OutOfMemoryError as error:
                metrics.count_store_error("full")
                if attempt:  # an earlier one may have been carried out
                    raise Unavailable from error
                raise Refused("storage_full", "The task store is full; try again later") from error
            except Exception as error:
                metrics.count_store_error(kind_of(error))
                pause = pause_before(attempt)
                if not is_passing(error):
                    raise
                note_failure(self.redis, error)
                if deadline is not None and time.monotonic() + pause > deadline:
                    raise Unavailable from error
                attempt += 1
                await asyncio.sleep(pause)

    async def evaluate(self, name: str, *arguments: Argument, admitted: bool = False) -> Any:
        """Runs the script ``name`` once, and loads it where the server does not know it."""
        script = load(name, with_flags=self._with_flags, admitted=admitted, audit_events=self.audit_events)
        tail = (2, self.keys.prefix, self.keys.job_prefix, *arguments)
        began = time.perf_counter()
        try:
            answer = await self._flights.send("EVALSHA", script.sha, *tail)
        except NoScriptError:
            answer = await self._flights.send("EVAL", script.source, *tail)  # within the time of a flight
        metrics.observe_script(name, began)
        return answer

    def _limit_attempt(self, deadline: float | None) -> float:
        """Seconds after which a connection that does not answer is given up."""
        return self._attempt if deadline is None else max(0.0, min(self._attempt, deadline - time.monotonic()))
