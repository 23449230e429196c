"""Runs one task, whatever happens, and writes how it ended."""

import asyncio
import time
from functools import partial
from typing import Any

import structlog

from receiver.operation import Operation
from receiver.protocol.errors import InternalError, ReceiverError, Retry
from receiver.protocol.outcome import Outcome
from receiver.receiver import Receiver
from receiver.settings import Settings
from receiver.store.record import SCHEMA, ClaimedRun
from receiver.store.runs import Verdict
from receiver.telemetry import metrics
from receiver.telemetry.tracing import record_exception
from workers.account import account_for, close_account, close_with_outcome
from workers.attendant import Attendant
from workers.conclusion import conclude, name_of, params_of
from workers.context import RunContext
from workers.ending import Ending
from workers.equipment import Equipment
from workers.isolation import ProcessEnded, Processes
from workers.memo import Memo
from workers.progress import Progress
from workers.questions import Questions
from workers.reporter import Reporter
from workers.retries import pause_after
from workers.roster import ActiveRun, StopReason
from workers.threads import Threads
from workers.vigil import Vigil
from workers.work import CoroutineWork, Strays, ThreadWork, Work

STOP_SECONDS = 5.0  # how long a run that was told to stop may take for it
SLACK_BYTES = 1_048_576  # what a message of a process may hold beside a result, which has twice its bytes as text
UNKNOWN_TOOL_PAUSE = 5_000  # ms after which another worker, perhaps a newer one, is asked

log = structlog.get_logger(__name__)


class Runner:
    """Runs the operations of ``app``.  The kit never loses patience: an outcome is kept until the store has it."""

    context: type[RunContext] = RunContext

    def __init__(
        self,
        app: Receiver,
        kit: Equipment,
        settings: Settings,
        threads: Threads,
        state: Any = None,
    ) -> None:
        self._app = app
        self._kit = kit
        self._runs = kit.runs
        self._settings = settings
        self._threads = threads
        longest = max(settings.max_result_bytes, settings.max_step_bytes)
        self._strays = Strays()
        self.processes = Processes(settings.app, 2 * longest + SLACK_BYTES, (settings.log_format, settings.log_level))
        self.state = state

    async def execute(self, active: ActiveRun) -> None:
        """Runs a claimed task to its end, or to where it is given back."""
        with account_for(active):
            await self._settle(active)
        active.is_settled = True

    async def _settle(self, active: ActiveRun) -> None:
        claim = active.claim
        operation = self._app.find_operation(claim.text("method"), claim.text("tool"))
        if operation is None or int(claim.text("schema")) > SCHEMA:
            log.warning("task_not_runnable_here", task_id=claim.task_id)
            close_account(active.span, "not_runnable_here")
            await self._runs.requeue(claim.task_id, claim.run, "handed_back", UNKNOWN_TOOL_PAUSE)
        else:
            await self._execute(active, operation)

    async def finish(self, active: ActiveRun, outcome: Outcome) -> None:
        """Writes the outcome, unless the fence says that it is no longer this run's to write."""
        claim = active.claim
        verdict = await self._runs.finish(claim.task_id, claim.run, outcome)
        active.is_settled = True
        if verdict is Verdict.DONE and claim.kind == "task":
            metrics.count_finished(claim.text("tool"), outcome.status)
        event = "task_finished" if verdict is Verdict.DONE else "outcome_dropped"
        about = {"task_id": claim.task_id, "owner": claim.text("owner"), "run": claim.run}  # T-99
        ended = {"status": outcome.status, "verdict": verdict.name.lower(), "duration_s": active.duration}
        say = log.debug if verdict is Verdict.DONE and outcome.status == "completed" else log.info
        say(event, **about, **ended)
        close_with_outcome(active.span, outcome)

    async def give_up(self, active: ActiveRun) -> None:
        """Ends a run that this worker failed to run: given back, it would fail the next worker as well."""
        await self.finish(active, Outcome.of_error(InternalError("The worker could not run this task")))

    async def _execute(self, active: ActiveRun, operation: Operation) -> None:
        claim, began = active.claim, time.perf_counter()
        if claim.kind == "task" and claim.run == 1:
            metrics.observe_queue_wait(operation.key, (claim.claimed_at - int(claim.text("created_at"))) / 1000)
        reporter = Reporter(partial(self._runs.report, claim.task_id, claim.run))
        progress = Progress(claim, claim.task_id if claim.kind == "task" else None, reporter)
        pulse = asyncio.create_task(progress.keep_pulse()) if claim.kind == "call" else None
        try:
            end = await self._run_operation(active, operation, reporter, progress)
        finally:
            if pulse is not None:
                pulse.cancel()
            await reporter.close()
        if claim.kind == "task":
            metrics.observe_run(operation.key, _name_end(claim, end), time.perf_counter() - began)
        if isinstance(end, Outcome):
            await self.finish(active, end)
        elif isinstance(end, Retry):
            await self._retry(active, operation, end)
        elif end == "shutdown":
            log.info("task_handed_back", task_id=claim.task_id, run=claim.run, duration_s=active.duration)
            close_account(active.span, "handed_back")
            await self._runs.requeue(claim.task_id, claim.run, "handed_back")
        else:
            log.info("run_stopped", task_id=claim.task_id, run=claim.run, reason=end, duration_s=active.duration)
            close_account(active.span, end)

    async def _run_operation(
        self, active: ActiveRun, operation: Operation, reporter: Reporter, progress: Progress
    ) -> Outcome | Retry | StopReason:
        """What becomes of the run: a reason to stop leaves it no outcome, except for the end of its time."""
        claim = active.claim
        if active.stop_reason is not None:
            return active.stop_reason
        try:
            work = self._start(active, operation, reporter, progress)
        except ReceiverError as error:  # the function took other arguments when it was called
            return operation.refuse(error, as_task=claim.kind == "task")
        reason = await Vigil(self._runs, active, operation, work.ending, self._settings.park_after_seconds).keep()
        if reason is None:
            active.end()
            return await self._conclude(active, operation, work.ending.result())
        if reason == "shutdown" and not active.may_run_again:
            return await self._interrupt(active, operation, work)
        await self._stop(active, operation, work, reason)
        if reason == "timeout":
            seconds = int(claim.text("timeout")) / 1000
            return operation.fail(f"{name_of(operation)} was stopped: it took longer than {seconds:g} s")
        return reason

    async def _interrupt(self, active: ActiveRun, operation: Operation, work: Work) -> Outcome | Retry:
        """Stops what may run once and will not be run again; what it still says of its end counts."""
        if await self._stop(active, operation, work, "shutdown") and not work.ending.cancelled():
            ending = work.ending.result()
            if not isinstance(ending.error, asyncio.CancelledError):
                return await self._conclude(active, operation, ending)
        return operation.fail(f"{name_of(operation)} was interrupted by a shutdown")

    def _start(self, active: ActiveRun, operation: Operation, reporter: Reporter, progress: Progress) -> Work:
        """Calls the function: as a coroutine, in a thread, or in a process."""
        claim = active.claim
        active.replays = operation.replay
        arguments = operation.bind(params_of(claim))
        memo = Memo(self._kit.steps, active, self._threads, self._settings.max_step_bytes)
        context = self._make_context(active, reporter, progress, memo)
        if operation.isolation is not None:
            attendant = Attendant(active, context, memo, self._settings.max_result_bytes)
            return self.processes.run(claim.task_id, attendant)
        if operation.context_parameter is not None:
            arguments[operation.context_parameter] = context
        active.has_begun = True
        work = partial(operation.function, **arguments)
        if operation.is_async:
            return CoroutineWork(claim.task_id, work, self._strays)
        return ThreadWork(claim.task_id, work, self._threads)

    def _make_context(self, active: ActiveRun, reporter: Reporter, progress: Progress, memo: Memo) -> RunContext:
        questions = Questions(self._kit.inputs, active)
        announce = self._kit.subscriptions.announce
        return self.context(active, self.state, reporter, progress, questions, memo, announce)

    async def _stop(self, active: ActiveRun, operation: Operation, work: Work, reason: StopReason) -> bool:
        """Stops the work.  Returns whether it has ended."""
        claim = active.claim
        active.is_over = True
        active.on_news()
        has_ended = await work.stop(STOP_SECONDS, is_awaited=reason in ("shutdown", "parked"))
        if not has_ended:
            log.warning("tool_goes_on", task_id=claim.task_id, run=claim.run, reason=reason)
        return has_ended

    async def _conclude(self, active: ActiveRun, operation: Operation, ending: Ending) -> Outcome | Retry:
        if active.diverged is not None:
            ending = Ending(error=active.diverged)
        if ending.error is not None and not isinstance(ending.error, Retry):
            record_exception(active.span, ending.error)
        if ending.outcome is not None:
            return ending.outcome
        if isinstance(ending.error, ProcessEnded):
            return await self._count_death(active, operation, ending.error)
        return conclude(operation, active.claim, ending, self._settings.max_result_bytes)

    async def _count_death(self, active: ActiveRun, operation: Operation, error: ProcessEnded) -> Outcome | Retry:
        """A process that died is like a lost worker: another attempt, if there is one left."""
        claim = active.claim
        deaths = int(claim.text("deaths") or 0) + 1
        log.error("process_died", task_id=claim.task_id, run=claim.run, how=str(error))
        if claim.attempt < claim.max_attempts:
            await self._runs.report(claim.task_id, claim.run, {"deaths": deaths})
            metrics.count_death()
            return Retry()
        times = "" if deaths == 1 else f", {deaths} times"
        return operation.fail(f"The process of {operation.noun.lower()} {operation.key!r} {error}{times}")

    async def _retry(self, active: ActiveRun, operation: Operation, retry: Retry) -> None:
        claim = active.claim
        if claim.attempt >= claim.max_attempts:
            attempts = "1 attempt" if claim.attempt == 1 else f"{claim.attempt} attempts"
            await self.finish(active, operation.fail(f"{name_of(operation)} gave up after {attempts}"))
            return
        after = pause_after(claim.attempt) if retry.after is None else retry.after
        about = {"attempt": claim.attempt, "after": after, "duration_s": active.duration}
        log.info("task_retried", task_id=claim.task_id, **about)
        close_account(active.span, "retried")
        await self._runs.requeue(claim.task_id, claim.run, "retry", round(after * 1000))


def _name_end(claim: ClaimedRun, end: Outcome | Retry | StopReason) -> str:
    """What the end of a run is counted as."""
    if isinstance(end, Outcome):
        return end.status
    if isinstance(end, Retry):
        return "retried" if claim.attempt < claim.max_attempts else "failed"
    return "handed_back" if end == "shutdown" else end
