"""Runs one task, whatever happens, and writes how it ended."""

import asyncio
from contextlib import suppress
from functools import partial
from typing import Any

import orjson
import structlog

from receiver.principal import Principal
from receiver.protocol.errors import ReceiverError, Retry, ToolError
from receiver.protocol.outcome import Outcome
from receiver.receiver import Receiver
from receiver.settings import Settings
from receiver.store.record import SCHEMA, ClaimedRun
from receiver.store.runs import RunStore, Verdict
from receiver.tools.content import error_result
from receiver.tools.tool import Tool
from workers.context import RunContext
from workers.reporter import Reporter
from workers.roster import ActiveRun, StopReason
from workers.threads import run_in_thread

STOP_SECONDS = 5.0  # how long a run that was told to stop may take for it
UNKNOWN_TOOL_PAUSE = 5_000  # ms after which another worker, perhaps a newer one, is asked

log = structlog.get_logger(__name__)


class Runner:
    """Runs the tools of ``app``.  ``runs`` never loses patience: an outcome is kept until the store has it."""

    def __init__(self, app: Receiver, runs: RunStore, settings: Settings, state: Any = None) -> None:
        self._app = app
        self._runs = runs
        self._settings = settings
        self.state = state

    async def execute(self, active: ActiveRun) -> None:
        """Runs a claimed task to its end, or to where it is given back."""
        claim = active.claim
        tool = self._app.tools.get(claim.text("tool"))
        if tool is None or int(claim.text("schema")) > SCHEMA:
            log.warning("task_not_runnable_here", task_id=claim.task_id, tool=claim.text("tool"))
            await self._runs.requeue(claim.task_id, claim.run, "handed_back", UNKNOWN_TOOL_PAUSE)
            return
        reporter = Reporter(partial(self._runs.report, claim.task_id, claim.run))
        try:
            outcome = await self._run_tool(active, tool, reporter)
        except Retry as retry:
            await self._retry(claim, tool, retry)
            return
        finally:
            await reporter.close()
        if outcome is not None:
            await self.finish(claim, outcome)
        elif active.stop_reason == "shutdown":
            await self._hand_back(claim, tool)
        else:
            log.info("run_stopped", task_id=claim.task_id, run=claim.run, reason=active.stop_reason)

    async def finish(self, claim: ClaimedRun, outcome: Outcome) -> None:
        """Writes the outcome, unless the fence says that it is no longer this run's to write."""
        verdict = await self._runs.finish(claim.task_id, claim.run, outcome)
        event = "task_finished" if verdict is Verdict.DONE else "outcome_dropped"
        log.info(event, task_id=claim.task_id, run=claim.run, status=outcome.status, verdict=verdict.name.lower())

    async def _run_tool(self, active: ActiveRun, tool: Tool, reporter: Reporter) -> Outcome | None:
        """The outcome of the tool, or None if the run was stopped for a reason that leaves it none."""
        claim = active.claim
        try:
            work = self._start(active, tool, reporter)
            reason = await _await_or_stop(active, work, self._time_limit(claim))
            if reason == "timeout":
                seconds = int(claim.text("timeout")) / 1000
                return _as_error(f"Tool {tool.name!r} was stopped: it took longer than {seconds:g} s")
            if reason is not None:
                return None
            return self._limit(tool, Outcome.of_result(tool.render(work.result())))
        except Retry:
            raise
        except ToolError as error:
            return _as_error(str(error) or f"Tool {tool.name!r} failed")
        except ReceiverError as error:
            return self._encode_error(tool, error)  # T-83
        except (Exception, asyncio.CancelledError) as error:
            log.exception("tool_failed", task_id=claim.task_id, tool=tool.name, run=claim.run)
            return _as_error(f"Tool {tool.name!r} failed: {type(error).__name__}; the server's log has the details")

    def _start(self, active: ActiveRun, tool: Tool, reporter: Reporter) -> "asyncio.Future[Any]":
        claim = active.claim
        arguments = tool.bind(orjson.loads(claim.fields["params"]))
        if tool.context_parameter is not None:
            principal = Principal.from_json(orjson.loads(claim.fields["principal"]))
            arguments[tool.context_parameter] = RunContext(active, principal, self.state, reporter)
        work = partial(tool.function, **arguments)
        if tool.is_async:
            return asyncio.create_task(work(), name=claim.task_id)
        return run_in_thread(claim.task_id, work)

    def _time_limit(self, claim: ClaimedRun) -> tuple[float, StopReason]:
        """Seconds that the run may take, and what it means when they are over: the ttl ends it at the latest."""
        timeout = claim.text("timeout")
        if timeout and int(timeout) < claim.remaining:
            return int(timeout) / 1000, "timeout"
        return max(0, claim.remaining) / 1000, "expired"

    def _limit(self, tool: Tool, outcome: Outcome) -> Outcome:
        limit = self._settings.max_result_bytes
        if len(outcome.payload) <= limit:
            return outcome
        return _as_error(f"The result of tool {tool.name!r} has {len(outcome.payload)} bytes; {limit} are allowed")

    def _encode_error(self, tool: Tool, error: ReceiverError) -> Outcome:
        try:
            return Outcome.of_error(error)
        except TypeError:
            log.exception("tool_error_not_json", tool=tool.name)
            return Outcome.of_error(ReceiverError(error.message, code=error.code))

    async def _retry(self, claim: ClaimedRun, tool: Tool, retry: Retry) -> None:
        if claim.attempt >= claim.max_attempts:
            await self.finish(claim, _as_error(f"Tool {tool.name!r} gave up after {claim.attempt} attempts"))
            return
        log.info("task_retried", task_id=claim.task_id, attempt=claim.attempt, after=retry.after)
        await self._runs.requeue(claim.task_id, claim.run, "retry", round(retry.after * 1000))

    async def _hand_back(self, claim: ClaimedRun, tool: Tool) -> None:
        if not tool.is_async and claim.max_attempts == 1:  # its thread may still be at work: not twice
            await self.finish(claim, _as_error(f"Tool {tool.name!r} was interrupted by a shutdown"))
            return
        log.info("task_handed_back", task_id=claim.task_id, run=claim.run)
        await self._runs.requeue(claim.task_id, claim.run, "handed_back")


async def _await_or_stop(
    active: ActiveRun, work: "asyncio.Future[Any]", limit: tuple[float, StopReason]
) -> StopReason | None:
    """Waits for the work; returns why it was stopped, if it was.  A work that ends after that changes nothing."""
    stopped = asyncio.Event()
    active.on_stop = stopped.set
    if active.stop_reason is not None:
        stopped.set()
    stopping = asyncio.create_task(stopped.wait())
    seconds, at_limit = limit
    try:
        await asyncio.wait({work, stopping}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if active.stop_reason is None and work.done():
            return None
        active.stop(at_limit)  # if it is neither done nor stopped, its time is over
        work.cancel()
        await asyncio.wait({work}, timeout=STOP_SECONDS)
        if work.done():
            with suppress(BaseException):
                work.result()  # looked at, so that asyncio does not report it as lost
        return active.stop_reason
    finally:
        stopping.cancel()


def _as_error(text: str) -> Outcome:
    return Outcome.of_result(error_result(text))
