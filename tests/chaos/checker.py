"""Judges a campaign: a pure function from what was seen to what must never be seen.

One function an invariant, numbered as in docs/reliability.md.  Each yields a line for every violation.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

from receiver.protocol.lifecycle import STATUSES, TERMINAL
from tests.chaos.evidence import NEVER, Evidence, Operation
from tests.chaos.executions import check_attempts, check_calls, check_resumption, check_sleeps, check_steps
from tests.chaos.ledger import Ledger
from tests.chaos.patience import limit_after
from tests.chaos.stock import find_leftovers

ASKERS = ("asking", "composing", "parking", "delegating", "hasty")
Check = Callable[[Evidence, Ledger], Iterator[str]]


def check(evidence: Evidence) -> list[str]:
    """Every violation of every invariant, each with its number in front."""
    ledger = Ledger(evidence)
    return [f"{name}: {line}" for name, judge in CHECKS.items() for line in judge(evidence, ledger)]


def check_known(evidence: Evidence, ledger: Ledger) -> Iterator[str]:
    """I1: a task whose creation was acknowledged is never unknown to its owner before its ttl ends."""
    for operation in evidence.operations:
        created = ledger.created.get(operation.task)
        is_lost = operation.reason == "not_found" and created and operation.principal == created.principal
        if is_lost and created and created.ended <= operation.begun and operation.ended < created.begun + created.ttl:
            yield f"{operation.op} of {operation.task} says not found {operation.ended - created.ended:.1f} s after"


def check_terminal(evidence: Evidence, ledger: Ledger) -> Iterator[str]:
    """I2: exactly one terminal state, and no other is read once it was read."""
    for task, sightings in ledger.sightings.items():
        ends = {sighting.status for sighting in sightings if sighting.status in TERMINAL}
        record = evidence.dump.records.get(task)
        if record and record["status"] in TERMINAL and ends:
            ends.add(record["status"])
        if len(ends) > 1:
            yield f"{task} was seen as {sorted(ends)}"
        first = min((sighting.ended for sighting in sightings if sighting.status in TERMINAL), default=NEVER)
        for sighting in sightings:
            if sighting.status not in TERMINAL and sighting.begun > first:
                yield f"{task} was {sighting.status} after it had ended"


def check_results(evidence: Evidence, ledger: Ledger) -> Iterator[str]:
    """I3: all answers of tasks/result are the same bytes, of the run that holds the fence."""
    for task, answers in ledger.results.items():
        if len({answer.digest for answer in answers}) > 1:
            yield f"{task} has {len({answer.digest for answer in answers})} different results"
        ran = next((answer.payload for answer in answers if isinstance(answer.payload, dict)), None)
        if ran is None or "nonce" not in ran:
            continue
        ends = [trace for trace in ledger.traces[task] if trace.event == "end" and trace.nonce == ran["nonce"]]
        created, record = ledger.created.get(task), evidence.dump.records.get(task)
        if ran["task"] != task or (created and ran["label"] != created.label):
            yield f"{task} has the result of {ran['task']}, {ran['label']}"
        elif not ends:
            yield f"{task} has the result of run {ran['run']}, which did not end"
        elif record and record["run"] != str(ran["run"]):
            yield f"{task} has the result of run {ran['run']}, and its fence is {record['run']}"


def check_cancels(evidence: Evidence, ledger: Ledger) -> Iterator[str]:
    """I4: a cancel that was accepted is the end; one that was refused names the end that there was."""
    for operation in evidence.operations:
        if operation.op != "cancel" or operation.principal != ledger.owner(operation.task):
            continue
        after = [sight for sight in ledger.sightings[operation.task] if sight.begun > operation.ended]
        found = {sight.status for sight in after} | ledger.last_status(operation.task)
        named = "cancelled" if operation.outcome == "ok" else operation.reason.removeprefix("terminal ")
        is_definite = operation.outcome == "ok" or operation.reason.startswith("terminal ")
        if is_definite and found - {named}:
            yield f"{operation.task}: cancel said {named}, and then it was {sorted(found - {named})}"


def check_lists(evidence: Evidence, ledger: Ledger) -> Iterator[str]:
    """I5: an owner's list holds each of his tasks once, and nobody else knows them."""
    for operation in evidence.operations:
        owner = ledger.owner(operation.task)
        is_foreign = owner and operation.principal != owner and operation.outcome != "unknown"
        if is_foreign and operation.reason != "not_found":
            yield f"{operation.op} of {operation.task} by {operation.principal}: {operation.reason or 'answered'}"
        if operation.op == "list" and operation.outcome == "ok":
            yield from _check_list(operation, ledger)


def _check_list(listing: Operation, ledger: Ledger) -> Iterator[str]:
    counts = Counter(task for task, _ in listing.tasks)
    yield from (f"{task} is listed {count} times" for task, count in counts.items() if count > 1)
    foreign = [task for task in counts if ledger.owner(task) not in ("", listing.principal)]
    yield from (f"{task} is listed for {listing.principal}" for task in foreign)
    for task, created in ledger.created.items():
        is_there = created.ended < listing.begun and listing.ended < created.begun + created.ttl
        if created.principal == listing.principal and is_there and task not in counts:
            yield f"{task} is not listed, {listing.begun - created.ended:.1f} s after it was created"


def check_ends(evidence: Evidence, ledger: Ledger) -> Iterator[str]:
    """I6: after the last fault, within the leases and the backlog, everything comes to an end."""
    for task, record in evidence.dump.records.items():
        if record["status"] not in TERMINAL:
            yield f"{task} ({record.get('tool')}) is still {record['status']}, run {record.get('run')}"
    for task, created in ledger.created.items():
        if task not in evidence.dump.records and evidence.dump.at < created.begun + created.ttl:
            yield f"{task} ({created.tool}) has no record any more"


def check_path(evidence: Evidence, ledger: Ledger) -> Iterator[str]:
    """I7: only statuses that the protocol has, only askers are input_required, and times only go forward."""
    for task, sightings in ledger.sightings.items():
        tool = ledger.created[task].tool if task in ledger.created else ""
        for sighting in sightings:
            if sighting.status not in STATUSES or (sighting.status == "input_required" and tool not in ("", *ASKERS)):
                yield f"{task} ({tool}) is {sighting.status}"
        if len({sighting.created for sighting in sightings if sighting.created}) > 1:
            yield f"{task} was created at several times"
        yield from _check_updates(task, [sighting for sighting in sightings if sighting.updated])


def _check_updates(task: str, sightings: list[Operation]) -> Iterator[str]:
    newest, ended = "", sorted(sightings, key=lambda sighting: sighting.ended)
    position = 0
    for sighting in sorted(sightings, key=lambda sighting: sighting.begun):
        while position < len(ended) and ended[position].ended < sighting.begun:
            newest = max(newest, ended[position].updated)
            position += 1
        if sighting.updated < newest:
            yield f"{task} was updated at {sighting.updated}, after {newest}"


def check_waits(evidence: Evidence, ledger: Ledger) -> Iterator[str]:
    """I8: a blocked result comes soon after its task has ended."""
    for operation in evidence.operations:
        record = evidence.dump.records.get(operation.task)
        is_result = operation.op == "result" and operation.principal == ledger.owner(operation.task)
        if not is_result or record is None or record["status"] not in TERMINAL:
            continue
        start = max(operation.begun, int(record.get("finished_at", 0)) / 1000)
        if operation.ended > limit_after(start, operation.ended, evidence, ledger):
            yield f"{operation.task}: a result took {operation.ended - start:.1f} s after the end"


def check_leftovers(evidence: Evidence, ledger: Ledger) -> Iterator[str]:
    """I9: at rest every key has a TTL or is permanent, and no index, queue, lease or job has what is over."""
    yield from find_leftovers(evidence.dump)


def check_unknown(evidence: Evidence, ledger: Ledger) -> Iterator[str]:
    """I11: a create without an answer is there as a whole or not at all; one that was refused is not there."""
    labels: dict[str, list[str]] = defaultdict(list)
    for task, record in evidence.dump.records.items():
        labels[ledger.label(record)].append(task)
    for operation in evidence.operations:
        if operation.op != "create":
            continue
        found = labels.get(operation.label, [])
        if len(found) > 1:
            yield f"{operation.label} was created {len(found)} times"
        if operation.outcome == "error" and found:
            yield f"{operation.label} was refused ({operation.reason}), and is there"
        if operation.outcome == "unknown" and found:
            yield from _check_whole(found[0], operation, ledger)


def _check_whole(task: str, operation: Operation, ledger: Ledger) -> Iterator[str]:
    final = [each for each in ledger.final_lists if each.principal == operation.principal]
    if final and final[-1].ended < operation.begun + operation.ttl and task not in dict(final[-1].tasks):
        yield f"{task} was created without an answer, and is not listed"


def check_answers(evidence: Evidence, ledger: Ledger) -> Iterator[str]:
    """I12: no HTTP error but the 503 of what is no request, no secret where it does not belong, no error in the log."""
    for operation in evidence.operations:
        if operation.http >= 400 and not (operation.op in ("answer", "result", "call") and operation.http == 503):
            yield f"{operation.op} of {operation.task or operation.label}: HTTP {operation.http}"
    yield from (f"a token stands in {name}" for name in evidence.secrets_found)
    yield from (f"a log says {line[:200]}" for line in evidence.log_errors)


def check_questions(evidence: Evidence, ledger: Ledger) -> Iterator[str]:
    """I13: a question is answered once: what was accepted first stays, and is what the tool gets."""
    for task in evidence.dump.records:
        kept, answers = ledger.kept_answer(task), ledger.answers.get(task, [])
        requests = {answer.digest for answer in answers if answer.label == kept}  # one that was taken back is another
        answers = [answer for answer in answers if answer.digest in requests and answer.label]
        first = min((answer.begun for answer in answers if answer.label == kept), default=0.0)
        for accepted in (answer for answer in answers if answer.outcome == "ok" and answer.ended < first):
            yield f"{task} was answered {accepted.label}, and then {kept} counted"
        for result in ledger.results.get(task, []):
            given = result.payload.get("answer") if isinstance(result.payload, dict) else None
            if kept and given and given != kept:
                yield f"{task} was given the answer {given}, and {kept} is kept"


CHECKS: dict[str, Check] = {
    "I1": check_known,
    "I2": check_terminal,
    "I3": check_results,
    "I4": check_cancels,
    "I5": check_lists,
    "I6": check_ends,
    "I7": check_path,
    "I8": check_waits,
    "I9": check_leftovers,
    "I10": check_attempts,
    "I11": check_unknown,
    "I12": check_answers,
    "I13": check_questions,
    "I14": check_steps,
    "I15": check_sleeps,
    "I16": check_resumption,
    "I17": check_calls,
}
