"""Runs one task, whatever happens, and writes how it ended."""

import asyncio
from functools import partial
from typing import Any

import orjson
import structlog

from receiver.operation import Operation
from receiver.principal import Principal
from receiver.protocol.capability import client_supports
from receiver.protocol.errors import InternalError, ReceiverError, Retry, ToolError, UrlElicitationRequired
from receiver.protocol.outcome import Outcome
from receiver.receiver import Receiver
from receiver.settings import Settings
from receiver.store.record import SCHEMA, ClaimedRun
from receiver.store.runs import Verdict
from workers.context import RunContext
from workers.ending import Ending, await_ending
from workers.equipment import Equipment
from workers.memo import Memo
from workers.progress import Progress
from workers.questions import Questions
from workers.reporter import Reporter
from workers.retries import pause_after
from workers.roster import ActiveRun, StopReason
from workers.threads import Threads
from workers.vigil import Vigil

STOP_SECONDS = 5.0  # how long a run that was told to stop may take for it
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
        self._strays: set[asyncio.Future[Ending]] = set()  # coroutines that took no notice of being cancelled
        self.state = state

    async def execute(self, active: ActiveRun) -> None:
        """Runs a claimed task to its end, or to where it is given back."""
        claim = active.claim
        operation = self._app.find_operation(claim.text("method"), claim.text("tool"))
        if operation is None or int(claim.text("schema")) > SCHEMA:
            log.warning("task_not_runnable_here", task_id=claim.task_id, tool=claim.text("tool"))
            await self._runs.requeue(claim.task_id, claim.run, "handed_back", UNKNOWN_TOOL_PAUSE)
        else:
            await self._execute(active, operation)
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

    async def _execute(self, active: ActiveRun, operation: Operation) -> None:
        claim = active.claim
        reporter = Reporter(partial(self._runs.report, claim.task_id, claim.run))
        progress = Progress(claim, claim.task_id if claim.kind == "task" else None, reporter)
        pulse = asyncio.create_task(progress.keep_pulse()) if claim.kind == "call" else None
        try:
            end = await self._run_operation(active, operation, reporter, progress)
        finally:
            if pulse is not None:
                pulse.cancel()
            await reporter.close()
        if isinstance(end, Outcome):
            await self.finish(active, end)
        elif isinstance(end, Retry):
            await self._retry(active, operation, end)
        elif end == "shutdown":
            log.info("task_handed_back", task_id=claim.task_id, run=claim.run)
            await self._runs.requeue(claim.task_id, claim.run, "handed_back")
        else:
            log.info("run_stopped", task_id=claim.task_id, run=claim.run, reason=end)

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
        reason = await Vigil(self._runs, active, operation, work, self._settings.park_after_seconds).keep()
        if reason is None:
            return self._conclude(active, operation, work.result())
        goes_on = await self._stop(active, operation, work, reason)
        if reason == "timeout":
            seconds = int(claim.text("timeout")) / 1000
            return operation.fail(f"{_name(operation)} was stopped: it took longer than {seconds:g} s")
        if reason == "shutdown" and goes_on and claim.max_attempts == 1:  # not twice, not even for a moment
            return operation.fail(f"{_name(operation)} was interrupted by a shutdown")
        return reason

    def _start(
        self, active: ActiveRun, operation: Operation, reporter: Reporter, progress: Progress
    ) -> "asyncio.Future[Ending]":
        claim = active.claim
        arguments = operation.bind(_params_of(claim))
        if operation.context_parameter is not None:
            arguments[operation.context_parameter] = self._new_context(active, reporter, progress)
        work = partial(operation.function, **arguments)
        if operation.is_async:
            return asyncio.create_task(await_ending(work), name=claim.task_id)
        return self._threads.run(claim.task_id, work)

    def _new_context(self, active: ActiveRun, reporter: Reporter, progress: Progress) -> RunContext:
        principal = Principal.from_json(orjson.loads(active.claim.fields["principal"]))
        questions = Questions(self._kit.inputs, active)
        memo = Memo(self._kit.steps, active, self._threads, self._settings.max_step_bytes)
        announce = self._kit.subscriptions.announce
        return self.context(active, principal, self.state, reporter, progress, questions, memo, announce)

    async def _stop(
        self, active: ActiveRun, operation: Operation, work: "asyncio.Future[Ending]", reason: StopReason
    ) -> bool:
        """Stops the work, which is cancelled or, in a thread, has ``ctx.cancelled``.  Returns whether it goes on.

        Nobody waits for a thread except before its task is given to another worker, or where it only waits.
        """
        claim = active.claim
        active.is_over = True
        active.on_news()
        if operation.is_async:
            work.cancel()
        if operation.is_async or reason == "parked" or (reason == "shutdown" and claim.max_attempts > 1):
            await asyncio.wait({work}, timeout=STOP_SECONDS)
        if work.done():
            return False
        log.warning("tool_goes_on", task_id=claim.task_id, tool=operation.key, run=claim.run, reason=reason)
        if operation.is_async:
            self._strays.add(work)
            work.add_done_callback(self._strays.discard)
        else:
            self._threads.abandon(work)
        return True

    def _conclude(self, active: ActiveRun, operation: Operation, ending: Ending) -> Outcome | Retry:
        claim = active.claim
        try:
            if active.diverged is not None:
                raise active.diverged
            result = operation.render(ending.unwrap(), _params_of(claim))
            return self._limit(operation, Outcome.of_result(result))
        except Retry as retry:
            return retry
        except ToolError as error:
            if error.__cause__ is not None:
                log.warning("tool_refused", task_id=claim.task_id, tool=operation.key, exc_info=error.__cause__)
            return self._limit(operation, operation.fail(str(error) or f"{_name(operation)} failed"))
        except UrlElicitationRequired as error:
            outcome = _encode_error(operation, error) if _opens_links(claim) else operation.fail(error.message)
            return self._limit(operation, outcome)
        except ReceiverError as error:
            return self._limit(operation, _encode_error(operation, error))
        except BaseException as error:  # whatever it raised: SystemExit too is only the tool's end
            log.error("tool_failed", task_id=claim.task_id, tool=operation.key, run=claim.run, exc_info=error)
            what = type(error).__name__
            return operation.fail(f"{_name(operation)} failed: {what}; the server's log has the details")

    def _limit(self, operation: Operation, outcome: Outcome) -> Outcome:
        size, limit = len(outcome.payload), self._settings.max_result_bytes
        if size <= limit:
            return outcome
        what = f"The {outcome.kind} of {operation.noun.lower()} {operation.key!r}"
        return operation.fail(f"{what} has {size} bytes; {limit} are allowed")

    async def _retry(self, active: ActiveRun, operation: Operation, retry: Retry) -> None:
        claim = active.claim
        if claim.attempt >= claim.max_attempts:
            attempts = "1 attempt" if claim.attempt == 1 else f"{claim.attempt} attempts"
            await self.finish(active, operation.fail(f"{_name(operation)} gave up after {attempts}"))
            return
        after = pause_after(claim.attempt) if retry.after is None else retry.after
        log.info("task_retried", task_id=claim.task_id, attempt=claim.attempt, after=after)
        await self._runs.requeue(claim.task_id, claim.run, "retry", round(after * 1000))


def _name(operation: Operation) -> str:
    return f"{operation.noun} {operation.key!r}"


def _opens_links(claim: ClaimedRun) -> bool:
    """Whether the client that called can have its user open links (E-01, E-03)."""
    return client_supports(orjson.loads(claim.text("capabilities") or "{}"), "elicitation.url")


def _params_of(claim: ClaimedRun) -> Any:
    return orjson.loads(claim.fields["params"])


def _encode_error(operation: Operation, error: ReceiverError) -> Outcome:
    """The error as it was raised (T-83), or without what JSON can't express."""
    try:
        return Outcome.of_error(error)
    except Exception:
        log.exception("tool_error_not_json", tool=operation.key)
    message = str(error.message).encode("utf-8", "replace").decode()
    code = error.code if -(2**63) <= error.code < 2**63 else None
    return Outcome.of_error(ReceiverError(message, code=code))
