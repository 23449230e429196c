"""The part of the checker that judges executions by the ground truth they left: attempts, steps, sleeps, calls."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

from tests.chaos.evidence import Evidence, Fault, Operation, Trace
from tests.chaos.ledger import Ledger
from tests.chaos.patience import limit_after

SLACK_SECONDS = 0.02  # the store's clock has milliseconds
ONCE = ("destructive",)  # may be executed once as a task
REPEATABLE = ("slow", "reading")  # may be executed again as plain calls
PARKED = ("parking",)
CLEAR = ("worker_lost", "storage_full")  # reasons of errors that a plain call may be answered with


def check_attempts(evidence: Evidence, ledger: Ledger) -> Iterator[str]:
    """I10: no more attempts than allowed, one execution where nothing failed, and never a second of what may run once.

    An outage of the store is nothing that fails a run.  A parked run is no execution that failed.
    """
    for task, traces in ledger.traces.items():
        starts = _starts(traces)
        tool = traces[0].tool
        allowed = 1 if tool in ONCE else evidence.max_attempts
        attempts = {trace.attempt for trace in starts}
        if max(attempts, default=0) > allowed:
            yield f"{task} ({tool}) was attempted {max(attempts)} times"
        if len({trace.run for trace in starts}) < len(starts):
            yield f"{task} ({tool}) has runs of one number: {sorted(trace.run for trace in starts)}"
        if allowed == 1 and len(starts) > 1:
            yield f"{task} ({tool}) was executed {len(starts)} times"
        expected = 2 if tool == "flaky" else 1
        executions = _unstopped(traces) if tool in PARKED else starts
        if len(executions) > expected and not ledger.is_touched(task):
            yield f"{task} ({tool}) was executed {len(executions)} times, and nothing had failed"
        if max(attempts, default=0) > expected and not ledger.is_touched(task):
            yield f"{task} ({tool}) was attempted {max(attempts)} times, and nothing had failed"
    for task, record in evidence.dump.records.items():
        if '"worker_lost"' in record.get("payload", "") and not ledger.is_touched(task):
            yield f"{task} ({record['tool']}) lost its worker, and no worker was lost"


def check_steps(evidence: Evidence, ledger: Ledger) -> Iterator[str]:
    """I14: a step that a run went on from is not done again, and returns the same in every run.

    It is done again only where its run died before it went on, by a fault; or by an older run, whose worker hung and
    does not know yet that another one took its task.
    """
    for task, traces in ledger.traces.items():
        for name, of_step in _by_name(traces, "step", "step_end", "kept").items():
            kept = [trace for trace in of_step if trace.event == "kept"]
            done = [trace for trace in of_step if trace.event == "step"]
            values = {trace.value for trace in kept}
            if len(values) > 1:
                yield f"{task}: step {name} returned {len(values)} different values"
            again = [(one, it) for it in done for one in kept if it.at > one.at and it.run > one.run]
            if again:
                yield f"{task}: step {name} was done again, and run {again[0][0].run} had gone on from it"
            ended = {trace.value for trace in of_step if trace.event == "step_end"}
            if values - ended:
                yield f"{task}: step {name} returned what no execution of it did"
            if len(done) > 1 and not ledger.is_touched(task):
                yield f"{task}: step {name} was done {len(done)} times, and nothing had failed"


def check_sleeps(evidence: Evidence, ledger: Ledger) -> Iterator[str]:
    """I15: a sleep is never shorter than asked; it does not begin again with a later run, and ends when it is over."""
    for task, traces in ledger.traces.items():
        for name, of_sleep in _by_name(traces, "sleep", "slept").items():
            begins = [trace for trace in of_sleep if trace.event == "sleep"]
            due = min(trace.at for trace in begins) + begins[0].seconds
            for end in (trace for trace in of_sleep if trace.event == "slept"):
                if end.at < due - SLACK_SECONDS:
                    yield f"{task}: sleep {name} ended {due - end.at:.2f} s too early"
                own = max((trace.at for trace in begins if trace.nonce == end.nonce), default=due)
                if end.at > limit_after(max(due, own), end.at, evidence, ledger):
                    yield f"{task}: sleep {name} ended {end.at - due:.1f} s too late"


def check_resumption(evidence: Evidence, ledger: Ledger) -> Iterator[str]:
    """I16: who waits for an answer goes on soon after that, in memory or parked, and parking costs no attempt."""
    for task, record in evidence.dump.records.items():
        answered_at = ledger.first_answer(task)
        if answered_at is None or record["status"] not in ("completed", "failed"):
            continue
        heard = [trace.at for trace in ledger.traces.get(task, []) if trace.event == "answered"]
        at = min(heard, default=int(record.get("finished_at") or 0) / 1000)
        if at > limit_after(answered_at, at, evidence, ledger):
            yield f"{task} ({record['tool']}) went on {at - answered_at:.1f} s after its answer"
    for task, traces in ledger.traces.items():
        yield from _check_parked(task, traces, evidence)


def _check_parked(task: str, traces: list[Trace], evidence: Evidence) -> Iterator[str]:
    """Attempts are only spent by runs that did not stop in peace, or might have been lost before they did."""
    if traces[0].tool not in PARKED:
        return
    starts = sorted(_starts(traces), key=lambda trace: trace.run)
    for before, after in pairwise(starts):
        stopped = [trace.at for trace in traces if trace.nonce == before.nonce and trace.event == "stopped"]
        was_struck = any(fault.begun <= after.at for fault in _faults_since(before.at, evidence))
        if stopped and after.attempt > before.attempt and not was_struck:
            yield f"{task}: run {after.run} is attempt {after.attempt}, and run {before.run} was only parked"


def _faults_since(at: float, evidence: Evidence) -> list[Fault]:
    margin = 2 * evidence.lease + 1.0
    return [fault for fault in evidence.faults if fault.kind != "script flush" and fault.ended + margin >= at]


def check_calls(evidence: Evidence, ledger: Ledger) -> Iterator[str]:
    """I17: a plain call is answered with what an execution of it gave, or a clear error; and not run twice for nothing.

    One that may be attempted once is executed at most once, and what was refused never.
    """
    for operation in evidence.operations:
        if operation.op != "call":
            continue
        traces = ledger.plain_traces.get(operation.label, [])
        yield from _check_answer(operation, traces, ledger)
        executed = _unstopped(traces)
        if operation.tool not in REPEATABLE and len(executed) > 1:
            yield f"{operation.label} ({operation.tool}), a plain call, was executed {len(executed)} times"
        last = max((trace.at for trace in traces), default=operation.ended)
        if len(executed) > 1 and not ledger.is_struck(operation.begun, last):
            yield f"{operation.label}, a plain call, was executed {len(executed)} times, and nothing had failed"
        if max((trace.attempt for trace in traces), default=0) > evidence.max_attempts:
            yield f"{operation.label}, a plain call, was attempted too often"


def _check_answer(operation: Operation, traces: list[Trace], ledger: Ledger) -> Iterator[str]:
    name = f"{operation.label} ({operation.tool}), a plain call,"
    if operation.outcome == "error":
        if operation.reason not in CLEAR:
            yield f"{name} was answered {operation.reason!r}"
        elif operation.reason == "storage_full" and traces:
            yield f"{name} was refused, and executed"
        elif operation.reason == "worker_lost" and not ledger.is_struck(operation.begun, operation.ended):
            yield f"{name} lost its worker, and no worker was lost"
    elif operation.outcome == "ok":
        nonce = operation.payload.get("nonce", "")
        if nonce and (operation.payload.get("label") != operation.label or nonce not in _ended(traces)):
            yield f"{name} was answered with run {operation.payload.get('run')}, which did not end"


def _starts(traces: Iterable[Trace]) -> list[Trace]:
    return [trace for trace in traces if trace.event == "start"]


def _ended(traces: Iterable[Trace]) -> set[str]:
    return {trace.nonce for trace in traces if trace.event == "end"}


def _unstopped(traces: list[Trace]) -> set[str]:
    """The executions that were not told to stop, and so were not handed back or parked."""
    stopped = {trace.nonce for trace in traces if trace.event == "stopped"}
    return {trace.nonce for trace in _starts(traces)} - stopped


def _by_name(traces: Iterable[Trace], *events: str) -> dict[str, list[Trace]]:
    found: dict[str, list[Trace]] = defaultdict(list)
    for trace in traces:
        if trace.event in events:
            found[trace.name].append(trace)
    return found
