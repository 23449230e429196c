"""One run of a rehearsed operation: a real one, that takes note of what it does and can be killed on its way."""

import asyncio
import concurrent.futures
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

from receiver.operation import Operation
from receiver.protocol.errors import Retry
from receiver.protocol.loglevel import LogLevel
from receiver.protocol.outcome import Outcome
from receiver.store.client import Client
from receiver.store.inputs import InputStore, Question
from receiver.store.runs import Verdict
from receiver.store.steps import Recorded, StepStore
from receiver.tools.tool import Tool
from workers.context import RunContext
from workers.ending import Ending
from workers.rehearsal.clock import Clock
from workers.rehearsal.performance import END, Log, Performance, Point, Progress
from workers.roster import ActiveRun, StopReason
from workers.runner import Runner
from workers.waits import Waits
from workers.work import Work

STOP_SECONDS = 2.0  # how long an operation may take to end once it was stopped

_CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)


class StagedWaits(Waits):
    """Sets ``turn`` at the begin of each wait, and not only at the first of several."""

    def __init__(self, turn: asyncio.Event) -> None:
        super().__init__()
        self._began_wait = turn

    @contextmanager
    def wait(self, call: str) -> Iterator[asyncio.Event]:
        with super().wait(call) as news:
            self._began_wait.set()
            yield news

    @contextmanager
    def work(self) -> Iterator[None]:
        with super().work():
            yield
        self._began_wait.set()  # perhaps it only waits now


@dataclass(eq=False, kw_only=True)
class StagedRun(ActiveRun):
    """``turn`` is set when it may be waiting for its requestor, or for its sleeps, whose ends are ``naps``."""

    performance: Performance
    turn: asyncio.Event = field(default_factory=asyncio.Event)
    naps: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.waits = StagedWaits(self.turn)
        self.performance.trace.calls.append([])

    def name_call(self, kind: str) -> str:
        call = super().name_call(kind)
        self.performance.trace.calls[-1].append(call)
        return call

    def next_call(self, kind: str) -> str:
        """What ``name_call`` will say."""
        return f"{kind}#{self._calls[kind] + 1}"

    def next_end(self) -> int | None:
        """When the first of the sleeps ends that it waits for, None for none."""
        return min((self.naps[call] for call in self.waits.calls if call in self.naps), default=None)

    async def arrive(self, when: str, call: str) -> None:
        """It came to this point, and comes no further if it is killed here."""
        if self.performance.trace.arrive(Point(when, call)):
            self.stop("superseded")
        if self.stop_reason == "superseded":  # nothing that goes on beside it may write
            await self.rest_for_ever()


class StagedSteps(StepStore):
    """The steps and sleeps of one run."""

    def __init__(self, client: Client, run: StagedRun, clock: Clock) -> None:
        super().__init__(client)
        self._run = run
        self._clock = clock

    async def remember(self, task_id: str, run: int, step: str, recorded: Recorded) -> Verdict:
        trace = self._run.performance.trace
        self._run.performance.steps.append(step.removeprefix("step/").rpartition("#")[0])
        await self._run.arrive("in", step)
        verdict = await super().remember(task_id, run, step, recorded)
        trace.done[step] += 1
        trace.values[step] = recorded.value
        return verdict

    async def sleep(self, task_id: str, run: int, sleep: str, duration: int) -> int | Verdict:
        left = await super().sleep(task_id, run, sleep, duration)
        if not isinstance(left, Verdict):
            self._run.naps[sleep] = self._clock.now + left
        await self._run.arrive("in", sleep)
        return left


class StagedInputs(InputStore):
    """The questions of one run."""

    def __init__(self, client: Client, run: StagedRun) -> None:
        super().__init__(client)
        self._run = run

    async def ask(self, task_id: str, run: int, question: Question) -> Verdict | bytes:
        answer = await super().ask(task_id, run, question)
        if answer is Verdict.DONE:
            await self._run.arrive("in", question.name)
        return answer


class StagedContext(RunContext):
    """The real Context, which keeps what is said."""

    _active: StagedRun

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        await super().progress(done, total, message)
        said = self._active.performance.progress
        if not said or done > said[-1].done:
            said.append(Progress(done, total, message))

    async def status(self, message: str) -> None:
        await super().status(message)
        self._active.performance.statuses.append(message)

    async def log(self, level: LogLevel, data: Any) -> None:
        await super().log(level, data)
        self._active.performance.logs.append(Log(level, data))

    async def resource_updated(self, uri: str) -> None:
        await super().resource_updated(uri)
        self._active.performance.updated.append(uri)

    async def step(self, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return await self._between(f"step/{name}", lambda: RunContext.step(self, name, function, *args, **kwargs))

    async def sleep(self, seconds: float) -> None:
        await self._between("sleep", lambda: RunContext.sleep(self, seconds))

    async def elicit(self, *args: Any, **kwargs: Any) -> Any:
        return await self._between("elicitation/create", lambda: RunContext.elicit(self, *args, **kwargs))

    async def elicit_url(self, *args: Any, **kwargs: Any) -> Any:
        return await self._between("elicitation/create", lambda: RunContext.elicit_url(self, *args, **kwargs))

    async def sample(self, *args: Any, **kwargs: Any) -> Any:
        return await self._between("sampling/createMessage", lambda: RunContext.sample(self, *args, **kwargs))

    async def _between(self, kind: str, work: Callable[[], Awaitable[Any]]) -> Any:
        call = self._active.next_call(kind)
        await self._active.arrive("before", call)
        result = await work()
        await self._active.arrive("behind", call)
        return result


class StagedRunner(Runner):
    """Runs one run."""

    context: type[RunContext] = StagedContext

    async def finish(self, active: ActiveRun, outcome: Outcome) -> None:
        trace = _performance_of(active).trace
        trace.outcomes.append(outcome)
        if trace.arrive(END):
            active.stop("superseded")
        else:
            await super().finish(active, outcome)

    async def _execute(self, active: ActiveRun, operation: Operation) -> None:
        """What is isolated runs here like any other: a process of its own could not be followed."""
        if isinstance(operation, Tool):
            operation = replace(operation, isolate=False)
        await super()._execute(active, operation)

    async def _conclude(self, active: ActiveRun, operation: Operation, ending: Ending) -> Outcome | Retry:
        performance = _performance_of(active)
        performance.exception = ending.error
        performance.trace.diverged = None if active.diverged is None else str(active.diverged)
        return await super()._conclude(active, operation, ending)

    async def _stop(self, active: ActiveRun, operation: Operation, work: Work, reason: StopReason) -> bool:
        """Waits for plain functions too: the next run may begin only when this one does nothing any more."""
        active.is_over = True
        active.on_news()
        trace = _performance_of(active).trace
        if not await work.stop(STOP_SECONDS, is_awaited=True):
            trace.swallowed = "it went on"
        elif not work.ending.cancelled() and not isinstance(error := work.ending.result().error, _CANCELLED):
            trace.swallowed = "it returned" if error is None else f"it raised {error!r}"
        return work.ending.done()


def _performance_of(active: ActiveRun) -> Performance:
    return cast(StagedRun, active).performance  # this runner is given no other
