"""A trial: one load by so many requestors, whatever comes of it.

::

    open ─▶ create a task each, where the load asks for one ─▶ warm up ─▶ measure ─▶ settle, if another one follows
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ops.bench.load import LOADS, Sample, Uncounted, gather, measure
from ops.bench.requestor import Requestor, Target, Unexpected

WARM_SECONDS = 0.3
LEAST_PATIENCE = 10.0  # seconds, for answers that are not there when the time is over
LATE = "no answer in time"
SETTLE_SECONDS = 20.0
LOOK_SECONDS = 0.2
PAUSE_SECONDS = 0.05  # of a requestor that was refused: it is not to find out how fast a server can refuse
UNDER_WAY = ("working", "input_required")


@dataclass
class Trial:
    """``errors`` by their text, ``reasons`` of those that were refused, ``created``: how many tasks it made."""

    load: str
    requestors: int
    sample: Sample = field(default_factory=lambda: Sample(0, ()))
    errors: Counter[str] = field(default_factory=Counter)
    reasons: set[str] = field(default_factory=set)
    created: int = 0

    def note(self, error: Exception) -> None:
        """Counts an error."""
        self.errors[str(error)] += 1
        if isinstance(error, Unexpected):
            self.reasons.add(error.reason)


async def run_trial(
    target: Target, load: str, count: int, seconds: float, *, settles: bool, least_patience: float = LEAST_PATIENCE
) -> Trial:
    """Measures ``load`` for ``seconds``, and waits as long again for what is under way then, or ``least_patience``.

    ``settles``: it ends when the tasks do that it made.  StartupError if no session can be had.
    """
    trial = Trial(load, count)
    patience = max(seconds, least_patience)
    async with gather([target], count) as requestors:
        able = await _prepare(trial, requestors) if load == "get" else requestors
        if able:
            warm = Trial(load, count)  # what it finds is found again
            await _act(warm, able, min(WARM_SECONDS, seconds), patience)
            if LATE in warm.errors:
                trial.errors += warm.errors
            else:
                trial.sample = await _act(trial, able, seconds, patience)
        if settles:
            await _settle(requestors)
        trial.created = sum(requestor.created for requestor in requestors)
    return trial


async def _prepare(trial: Trial, requestors: Sequence[Requestor]) -> list[Requestor]:
    """Creates a task for each; returns those that have one."""
    for requestor in requestors:
        try:
            await requestor.create()
        except (Unexpected, ConnectionError) as error:
            trial.note(error)
    return [requestor for requestor in requestors if requestor.task_id]


async def _act(trial: Trial, requestors: Sequence[Requestor], seconds: float, patience: float) -> Sample:
    """One sample.  Who is not answered in time hangs up, so that nothing is waited for without end."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    late = loop.call_at(end + patience, _hang_up, requestors)
    try:
        return await measure(requestors, _forgiving(trial, end, end + patience), seconds)
    finally:
        late.cancel()


def _forgiving(trial: Trial, end: float, late: float) -> Callable[[Requestor], Awaitable[object]]:
    """The load of ``trial``, which notes errors and goes on; who lost its connection has nothing more to do."""
    act, loop = LOADS[trial.load], asyncio.get_running_loop()

    async def act_on(requestor: Requestor) -> None:
        try:
            await act(requestor)
        except Unexpected as error:
            trial.note(error)
            await asyncio.sleep(PAUSE_SECONDS)
            raise Uncounted from None
        except ConnectionError as error:
            trial.note(TimeoutError(LATE) if loop.time() >= late else error)
            await asyncio.sleep(end - loop.time())
            raise Uncounted from None

    return act_on


def _hang_up(requestors: Sequence[Requestor]) -> None:
    for requestor in requestors:
        requestor.close()


async def _settle(requestors: Sequence[Requestor]) -> None:
    """Waits for the tasks that were created last, or the next trial would wait for all of them; but not for ever."""
    deadline = time.monotonic() + SETTLE_SECONDS

    async def wait_for(requestor: Requestor) -> None:
        with suppress(Unexpected, ConnectionError):
            while (await requestor.get()).get("status") in UNDER_WAY and time.monotonic() < deadline:  # noqa: ASYNC110
                await asyncio.sleep(LOOK_SECONDS)

    async with asyncio.TaskGroup() as group:
        for requestor in requestors:
            if requestor.task_id:
                group.create_task(wait_for(requestor))
