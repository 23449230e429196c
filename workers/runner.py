"""Runs one task, whatever happens, and writes how it ended."""

import asyncio
from functools import partial
from typing import Any

import orjson
import structlog

from receiver.principal import Principal
from receiver.protocol.errors import InternalError, InvalidArguments, ReceiverError, Retry, ToolError
from receiver.protocol.outcome import Outcome
from receiver.receiver import Receiver
from receiver.settings import Settings
from receiver.store.inputs import InputStore
from receiver.store.record import SCHEMA, ClaimedRun
from receiver.store.runs import RunStore, Verdict
from receiver.tools.content import error_result
from receiver.tools.tool import Tool
from workers.context import RunContext
from workers.ending import Ending, await_ending
from workers.progress import Progress
from workers.questions import Questions
from workers.reporter import Reporter
from workers.roster import ActiveRun, StopReason
from workers.threads import Threads

STOP_SECONDS = 5.0  # how long a run that was told to stop may take for it
UNKNOWN_TOOL_PAUSE = 5_000  # ms after which another worker, perhaps a newer one, is asked

log = structlog.get_logger(__name__)


class Runner:
    """Runs the tools of ``app``.  ``runs`` never loses patience: an outcome is kept until the store has it."""

    def __init__(
        self,
        app: Receiver,
        runs: RunStore,
        inputs: InputStore,
        settings: Settings,
        threads: Threads,
        state: Any = None,
    ) -> None:
        self._app = app
        self._inputs = inputs
        self._runs = runs
        self._settings = settings
        self._threads = threads
        self._strays: set[asyncio.Future[Ending]] = set()  # coroutines that took no notice of being cancelled
        self.state = state

    async def execute(self, active: ActiveRun) -> None:
        """Runs a claimed task to its end, or to where it is given back."""
        claim = active.claim
        tool = self._app.tools.get(claim.text("tool"))
        if tool is None or int(claim.text("schema")) > SCHEMA:
            log.warning("task_not_runnable_here", task_id=claim.task_id, tool=claim.text("tool"))
            await self._runs.requeue(claim.task_id, claim.run, "handed_back", UNKNOWN_TOOL_PAUSE)
        else:
            await self._execute(active, tool)
        active.is_settled = True

    async def finish(self, active: ActiveRun, outcome: Outcome) -> None:
        """Writes the outcome, unless the fence says that it is no longer this run's to write."""
        claim = active.claim
        verdict = await self._runs.finish(claim.task_id, claim.run, outcome)
        active.is_settled = True
        event = "task_finished" if verdict is Verdict.DONE else "outcome_dropped"
        log.info(event, task_id=claim.task_id, run=claim.run, status=outcome.status, verdict=verdict.name.lower())

    async def give_up(self, active: ActiveRun) -> None:
        """Ends a run that this worker failed to run: given back, it would fail the next worker as well."""
        await self.finish(active, Outcome.of_error(InternalError("The worker could not run this task")))

    async def _execute(self, active: ActiveRun, tool: Tool) -> None:
        claim = active.claim
        reporter = Reporter(partial(self._runs.report, claim.task_id, claim.run))
        progress = Progress(claim, claim.task_id if claim.kind == "task" else None, reporter)
        pulse = asyncio.create_task(progress.keep_pulse()) if claim.kind == "call" else None
        try:
            end = await self._run_tool(active, tool, reporter, progress)
        finally:
            if pulse is not None:
                pulse.cancel()
            await reporter.close()
        if isinstance(end, Outcome):
            await self.finish(active, end)
        elif isinstance(end, Retry):
            await self._retry(active, tool, end)
        elif end == "shutdown":
            log.info("task_handed_back", task_id=claim.task_id, run=claim.run)
            await self._runs.requeue(claim.task_id, claim.run, "handed_back")
        else:
            log.info("run_stopped", task_id=claim.task_id, run=claim.run, reason=end)

    async def _run_tool(
        self, active: ActiveRun, tool: Tool, reporter: Reporter, progress: Progress
    ) -> Outcome | Retry | StopReason:
        """What becomes of the run: a reason to stop leaves it no outcome, except for the end of its time."""
        claim = active.claim
        if active.stop_reason is not None:
            return active.stop_reason
        try:
            work = self._start(active, tool, reporter, progress)
        except InvalidArguments as error:  # the tool took others when it was called
            return _as_error(error.message) if claim.kind == "call" else Outcome.of_error(error)
        reason = await _await_or_stop(active, work, _time_limit(claim))
        if reason is None:
            return self._conclude(claim, tool, work.result())
        goes_on = await self._stop(active, tool, work, reason)
        if reason == "timeout":
            seconds = int(claim.text("timeout")) / 1000
            return _as_error(f"Tool {tool.name!r} was stopped: it took longer than {seconds:g} s")
        if reason == "shutdown" and goes_on and claim.max_attempts == 1:  # not twice, not even for a moment
            return _as_error(f"Tool {tool.name!r} was interrupted by a shutdown")
        return reason

    def _start(self, active: ActiveRun, tool: Tool, reporter: Reporter, progress: Progress) -> "asyncio.Future[Ending]":
        claim = active.claim
        arguments = tool.bind(orjson.loads(claim.fields["params"]))
        if tool.context_parameter is not None:
            principal = Principal.from_json(orjson.loads(claim.fields["principal"]))
            questions = Questions(self._inputs, active)
            arguments[tool.context_parameter] = RunContext(active, principal, self.state, reporter, progress, questions)
        work = partial(tool.function, **arguments)
        if tool.is_async:
            return asyncio.create_task(await_ending(work), name=claim.task_id)
        return self._threads.run(claim.task_id, work)

    async def _stop(self, active: ActiveRun, tool: Tool, work: "asyncio.Future[Ending]", reason: StopReason) -> bool:
        """Stops the work, which is cancelled or, in a thread, has ``ctx.cancelled``.  Returns whether it goes on.

        Nobody waits for a thread except before its task is given to another worker.
        """
        claim = active.claim
        active.is_over = True
        active.on_news()
        if tool.is_async:
            work.cancel()
        if tool.is_async or (reason == "shutdown" and claim.max_attempts > 1):
            await asyncio.wait({work}, timeout=STOP_SECONDS)
        if work.done():
            return False
        log.warning("tool_goes_on", task_id=claim.task_id, tool=tool.name, run=claim.run, reason=reason)
        if tool.is_async:
            self._strays.add(work)
            work.add_done_callback(self._strays.discard)
        else:
            self._threads.abandon(work)
        return True

    def _conclude(self, claim: ClaimedRun, tool: Tool, ending: Ending) -> Outcome | Retry:
        try:
            return self._limit(tool, Outcome.of_result(tool.render(ending.unwrap())))
        except Retry as retry:
            return retry
        except ToolError as error:
            if error.__cause__ is not None:
                log.warning("tool_refused", task_id=claim.task_id, tool=tool.name, exc_info=error.__cause__)
            return self._limit(tool, _as_error(str(error) or f"Tool {tool.name!r} failed"))
        except ReceiverError as error:
            return self._limit(tool, _encode_error(tool, error))
        except BaseException as error:  # whatever it raised: SystemExit too is only the tool's end
            log.error("tool_failed", task_id=claim.task_id, tool=tool.name, run=claim.run, exc_info=error)
            return _as_error(f"Tool {tool.name!r} failed: {type(error).__name__}; the server's log has the details")

    def _limit(self, tool: Tool, outcome: Outcome) -> Outcome:
        size, limit = len(outcome.payload), self._settings.max_result_bytes
        if size <= limit:
            return outcome
        return _as_error(f"The {outcome.kind} of tool {tool.name!r} has {size} bytes; {limit} are allowed")

    async def _retry(self, active: ActiveRun, tool: Tool, retry: Retry) -> None:
        claim = active.claim
        if claim.attempt >= claim.max_attempts:
            attempts = "1 attempt" if claim.attempt == 1 else f"{claim.attempt} attempts"
            await self.finish(active, _as_error(f"Tool {tool.name!r} gave up after {attempts}"))
            return
        log.info("task_retried", task_id=claim.task_id, attempt=claim.attempt, after=retry.after)
        await self._runs.requeue(claim.task_id, claim.run, "retry", round(retry.after * 1000))


async def _await_or_stop(
    active: ActiveRun, work: "asyncio.Future[Ending]", limit: tuple[float, StopReason]
) -> StopReason | None:
    """Waits for the work; returns None when it is done, or why it has to be stopped."""
    stopped = asyncio.get_running_loop().create_future()
    active.on_stop = partial(stopped.set_result, None)
    seconds, at_limit = limit
    await asyncio.wait({work, stopped}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    if work.done() and active.stop_reason in (None, "shutdown"):  # what was done need not be done again
        return None
    active.stop(at_limit)  # if it is neither done nor stopped, its time is over
    return active.stop_reason


def _time_limit(claim: ClaimedRun) -> tuple[float, StopReason]:
    """Seconds that the run may take, and what it means when they are over: the ttl ends it at the latest."""
    timeout = claim.text("timeout")
    if timeout and int(timeout) < claim.remaining:
        return int(timeout) / 1000, "timeout"
    return max(0, claim.remaining) / 1000, "expired"


def _as_error(text: str) -> Outcome:
    return Outcome.of_result(error_result(text))


def _encode_error(tool: Tool, error: ReceiverError) -> Outcome:
    """The error as it was raised (T-83), or without what JSON can't express."""
    try:
        return Outcome.of_error(error)
    except Exception:
        log.exception("tool_error_not_json", tool=tool.name)
    message = str(error.message).encode("utf-8", "replace").decode()
    code = error.code if -(2**63) <= error.code < 2**63 else None
    return Outcome.of_error(ReceiverError(message, code=code))
