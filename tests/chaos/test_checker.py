"""The checker on histories made by hand: each invariant finds what breaks it, and lets pass what does not."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from receiver.store.keys import Keys
from tests.chaos.checker import CHECKS, check
from tests.chaos.evidence import Dump, Evidence, Fault, Operation, Trace

KEYS = Keys()
TASK, OTHER = "0-aa", "0-bb"
RAN = {"label": "alice-1", "task": TASK, "run": 1, "attempt": 1, "nonce": "n1", "answer": ""}
RECORD = {
    "status": "completed",
    "owner": "a",
    "tool": "slow",
    "run": "1",
    "ttl": "600000",
    "finished_at": "102000",
    "params": '{"label":"alice-1"}',
    "payload": "{}",
}

Change = Callable[[Evidence], Evidence]


def operation(op: Any, begun: float, ended: float, **about: Any) -> Operation:
    given = {"principal": "alice", "task": TASK, "outcome": "ok", **about}
    return Operation(op, begun=begun, ended=ended, **given)


def trace(event: Any, at: float, run: int = 1, **about: Any) -> Trace:
    given = {"tool": "slow", "label": "alice-1", "task": TASK, "attempt": run, "nonce": f"n{run}", "pid": 7, **about}
    return Trace(event=event, run=run, at=at, **given)


def dump_of(**records: dict[str, str]) -> Dump:
    """A store that holds these records, with all the entries that belong to them."""
    named = {task.replace("_", "-"): record for task, record in records.items()}
    values: dict[str, Any] = {KEYS.served(): {"default": "9"}, KEYS.expiry(): []}
    ttls = {KEYS.served(): -1, KEYS.expiry(): -1}
    for task, record in named.items():
        for key in (KEYS.status(record["status"], "task:slow"), KEYS.owner(record["owner"])):
            values.setdefault(key, []).append(task)
            ttls[key] = -1 if ":status:" in key else 500_000
        values[KEYS.expiry()].append(f"{record['owner']}/{task}/default/task:slow")
        values[KEYS.task(task)] = record
        ttls[KEYS.task(task)] = 500_000
    return Dump(at=120.0, ttls=ttls, values=values, records=named)


CREATED = operation("create", 100.0, 100.1, label="alice-1", tool="slow", ttl=600.0, status="working", created="c")
RESULT = operation("result", 100.2, 102.1, status="completed", digest="d", payload=RAN)
LISTED = operation("list", 110.0, 110.1, task="", tasks=((TASK, "completed"),), is_final=True)
GOOD = Evidence(
    operations=(
        CREATED,
        operation("get", 100.3, 100.4, status="working", created="c", updated="u1"),
        RESULT,
        operation("get", 103.0, 103.1, status="completed", created="c", updated="u2"),
        operation("get", 103.0, 103.1, principal="bob", outcome="error", reason="not_found"),
        operation("cancel", 104.0, 104.1, outcome="error", reason="terminal completed"),
        LISTED,
    ),
    faults=(),
    traces=(trace("start", 100.2), trace("end", 102.0)),
    dump=dump_of(**{"0_aa": RECORD}),
)


def seen(*more: Operation) -> Change:
    return lambda evidence: replace(evidence, operations=(*evidence.operations, *more))


def without(*ops: str) -> Change:
    return lambda evidence: replace(
        evidence, operations=tuple(each for each in evidence.operations if each.op not in ops)
    )


def traced(*traces: Trace) -> Change:
    return lambda evidence: replace(evidence, traces=traces)


def also_traced(*traces: Trace) -> Change:
    return lambda evidence: replace(evidence, traces=(*evidence.traces, *traces))


def struck(kind: str, target: str, begun: float, ended: float) -> Change:
    return lambda evidence: replace(evidence, faults=(*evidence.faults, Fault(kind, target, begun, ended)))


def recorded(task: str = "0_aa", **fields: str) -> Change:
    """The task's record, or a second one, with these fields."""
    before = {} if task == "0_aa" else {"0_aa": RECORD}
    return lambda evidence: replace(evidence, dump=dump_of(**before, **{task: RECORD | fields}))


def stored(key: str, value: Any, ttl: int) -> Change:
    def change(evidence: Evidence) -> Evidence:
        dump = evidence.dump
        return replace(evidence, dump=replace(dump, values={**dump.values, key: value}, ttls={**dump.ttls, key: ttl}))

    return change


def answered(word: str, begun: float) -> Operation:
    return operation("answer", begun, begun + 0.1, label=word)


KEPT = {"elicitation/create#1:answer": '{"result":{"content":{"word":"one"}}}'}
UNKNOWN = operation("create", 105.0, 106.0, task="", label="alice-2", tool="quick", ttl=600.0, outcome="unknown")
SECOND = {"params": '{"label":"alice-2"}', "finished_at": "106000"}
RERUN = (trace("start", 100.2), trace("start", 101.0, run=2), trace("end", 102.0, run=2))
SECOND_RESULT = replace(RESULT, payload=RAN | {"run": 2, "nonce": "n2"})


def stepped(event: Any, at: float, value: str, run: int = 1) -> Trace:
    return trace(event, at, run, tool="parking", name="one", value=value)


def slept(event: Any, at: float, run: int = 1) -> Trace:
    return trace(event, at, run, tool="sleeping", name="one", seconds=3.0)


def parked(attempt: int, event: Any = "stopped") -> Change:
    first, second = trace("start", 100.2, tool="parking"), trace("start", 101, run=2, attempt=attempt, tool="parking")
    return traced(first, trace(event, 100.5, tool="parking"), second, trace("end", 102, run=2, tool="parking"))


def called(tool: str, **about: Any) -> Change:
    about = {"payload": RAN | {"task": "", "label": "alice-9", "nonce": "n2"}} | about
    return seen(operation("call", 100.2, 102.1, task="", label="alice-9", tool=tool, **about))


def ran_plainly(tool: str, *events: tuple[Any, int], at: float = 101.0) -> Change:
    own = [trace(event, at, run, task="", label="alice-9", tool=tool) for event, run in events]
    return lambda evidence: replace(evidence, traces=(*evidence.traces, *own))


DONE = (stepped("step", 100.3, "v"), stepped("step_end", 100.4, "v"), stepped("kept", 100.5, "v"))
DIED = struck("kill worker", "worker0", 100, 101)
ANSWER = {"elicitation/create#1:answer": '{"result":{"content":{"word":"one"}}}'}
HEARD = trace("answered", 101.5, value="one")

BAD: list[tuple[str, str, list[Change]]] = [
    ("I1", "not found by its owner", [seen(operation("get", 105, 105.1, outcome="error", reason="not_found"))]),
    ("I2", "two terminal states", [seen(operation("get", 105, 105.1, status="failed"))]),
    ("I2", "working after its end", [seen(operation("get", 105, 105.1, status="working"))]),
    ("I2", "listed as working after its end", [seen(replace(LISTED, tasks=((TASK, "working"),)))]),
    ("I2", "another end in the record", [recorded(status="failed")]),
    ("I3", "two results", [seen(replace(RESULT, digest="e"))]),
    ("I3", "the result of another task", [without("result"), seen(replace(RESULT, payload=RAN | {"task": OTHER}))]),
    ("I3", "the result of no execution", [traced(trace("start", 100.2))]),
    ("I3", "the result of an older run", [recorded(run="2")]),
    ("I4", "an accepted cancel", [seen(operation("cancel", 101, 101.1, status="cancelled"))]),
    ("I4", "a refused cancel", [seen(operation("cancel", 101, 101.1, outcome="error", reason="terminal failed"))]),
    ("I5", "read by a stranger", [seen(operation("get", 105, 105.1, principal="bob", status="completed"))]),
    (
        "I5",
        "refused to a stranger otherwise",
        [seen(operation("cancel", 105, 105.1, principal="bob", outcome="error"))],
    ),
    ("I5", "listed twice", [seen(replace(LISTED, tasks=(*LISTED.tasks, *LISTED.tasks)))]),
    ("I5", "not listed", [seen(replace(LISTED, tasks=()))]),
    ("I5", "listed for a stranger", [seen(replace(LISTED, principal="bob"))]),
    ("I6", "never ends", [without("get", "result", "cancel", "list"), recorded(status="working")]),
    ("I6", "nobody knows of it", [recorded("0_bb", status="input_required", params='{"label":"x"}')]),
    ("I6", "vanished", [lambda evidence: replace(evidence, dump=dump_of())]),
    ("I7", "a status that there is not", [seen(operation("get", 101, 101.1, status="queued"))]),
    ("I7", "asks without asking", [seen(operation("get", 101, 101.1, status="input_required"))]),
    ("I7", "created again", [seen(operation("get", 105, 105.1, status="completed", created="x"))]),
    ("I7", "an older update", [seen(operation("get", 105, 105.1, status="completed", updated="u1"))]),
    ("I8", "a late result", [without("result"), seen(replace(RESULT, ended=105.0))]),
    ("I8", "none in time", [seen(replace(RESULT, outcome="unknown", begun=103.0, ended=123.0))]),
    ("I8", "late even after a fault", [struck("kill api", "api0", 101, 101.5), seen(replace(RESULT, ended=118.0))]),
    ("I9", "a key for ever", [stored("mcp:{0}:stream:x", {}, -1)]),
    ("I9", "a job", [stored(KEYS.arq_job(TASK), "job", 1000)]),
    ("I9", "a job of no task", [stored(KEYS.arq_retry(OTHER), "1", -1)]),
    ("I9", "a lease", [stored(KEYS.leases(), [TASK], -1)]),
    ("I9", "a place in a queue", [stored(KEYS.queue("default"), [KEYS.job_id(TASK)], -1)]),
    ("I9", "a retry", [stored(KEYS.later(), [OTHER], -1)]),
    ("I9", "held", [stored(KEYS.held("w"), {"claim": "3", TASK: "2"}, 1000)]),
    ("I9", "counted as unfinished", [stored(KEYS.active("a"), [TASK], 1000)]),
    ("I9", "under a max_running", [stored(KEYS.running("slow"), [TASK], -1)]),
    ("I9", "indexed twice", [stored(KEYS.status("working", "task:slow"), [TASK], -1)]),
    ("I9", "indexed without a record", [stored(KEYS.status("failed", "task:slow"), [OTHER], -1)]),
    ("I9", "not in its owner's index", [stored(KEYS.owner("a"), [], 1000)]),
    ("I9", "never swept", [stored(KEYS.expiry(), [], -1)]),
    ("I9", "too long a life", [stored(KEYS.task(TASK), RECORD, 600_001)]),
    ("I10", "too many attempts", [struck("kill worker", "worker0", 100, 101), traced(trace("start", 101, run=4))]),
    ("I10", "run again for nothing", [traced(*RERUN)]),
    ("I10", "run again for an outage", [struck("kill store", "store", 100, 101), traced(*RERUN)]),
    ("I10", "run again for a slow store", [struck("stall", "store", 100, 101), traced(*RERUN)]),
    ("I10", "two runs of one number", [struck("pause worker", "worker0", 100, 101), traced(RERUN[0], RERUN[0])]),
    (
        "I10",
        "a second run of what may run once",
        [
            struck("kill worker", "worker0", 100, 101),
            traced(*(replace(each, tool="destructive", attempt=1) for each in RERUN)),
        ],
    ),
    (
        "I10",
        "what may run once was handed back",
        [
            struck("term worker", "worker0", 100, 101),
            traced(
                trace("start", 100.2, tool="destructive"),
                trace("stopped", 100.5, tool="destructive"),
                trace("start", 101, run=2, attempt=1, tool="destructive"),
            ),
        ],
    ),
    ("I10", "lost for nothing", [recorded(status="failed", payload='{"data":{"reason":"worker_lost"}}')]),
    ("I11", "created twice", [recorded("0_bb", params=RECORD["params"])]),
    ("I11", "refused, and there", [recorded("0_bb", **SECOND), seen(replace(UNKNOWN, outcome="error"))]),
    ("I11", "there, and not listed", [recorded("0_bb", **SECOND), seen(UNKNOWN)]),
    ("I12", "a server error", [seen(operation("get", 105, 105.1, http=500, outcome="unknown"))]),
    ("I12", "a lost session", [seen(operation("get", 105, 105.1, http=404, outcome="unknown"))]),
    ("I12", "an error in a log", [lambda evidence: replace(evidence, log_errors=("hub_failed",))]),
    ("I12", "a token", [lambda evidence: replace(evidence, secrets_found=("appendonly.aof",))]),
    (
        "I13",
        "a second answer",
        [stored(KEYS.inputs(TASK), KEPT, 1), seen(answered("two", 100.2), answered("one", 101))],
    ),
    (
        "I13",
        "another answer",
        [stored(KEYS.inputs(TASK), KEPT, 1), seen(replace(RESULT, payload=RAN | {"answer": "x"}))],
    ),
    ("I9", "a plain call that is listed", [recorded("0_bb", kind="call", params='{"label":"x"}')]),
    ("I10", "attempts without a fault", [parked(attempt=2)]),
    ("I10", "parked for ever and run again", [parked(attempt=1, event="answered")]),
    ("I14", "done again, and gone on from", [DIED, traced(*DONE, stepped("step", 102, "w", run=2))]),
    (
        "I14",
        "two values",
        [DIED, traced(*DONE, stepped("step_end", 101, "w", run=2), stepped("kept", 102, "w", run=2))],
    ),
    ("I14", "a value from nowhere", [traced(stepped("step", 100.3, "v"), stepped("kept", 100.5, "v"))]),
    ("I14", "done again for nothing", [traced(*DONE[:2], stepped("step", 101, "w", run=2))]),
    ("I15", "too short", [traced(slept("sleep", 100), slept("slept", 102.9))]),
    ("I15", "too short in another run", [DIED, traced(slept("sleep", 100), slept("slept", 102.9, run=2))]),
    ("I15", "too long", [traced(slept("sleep", 100), slept("slept", 105.6))]),
    (
        "I15",
        "begun again",
        [
            struck("kill worker", "worker0", 90, 91),
            traced(slept("sleep", 100), slept("sleep", 102.9, run=2), slept("slept", 105.9, run=2)),
        ],
    ),
    (
        "I16",
        "deaf to its answer",
        [
            stored(KEYS.inputs(TASK), ANSWER, 1),
            seen(answered("one", 100.3)),
            traced(replace(HEARD, at=103.0)),
        ],
    ),
    (
        "I16",
        "never heard its answer",
        [stored(KEYS.inputs(TASK), ANSWER, 1), seen(answered("one", 98.0)), traced(trace("start", 98))],
    ),
    ("I16", "parking was an attempt", [parked(attempt=2)]),
    ("I17", "the answer of no execution", [called("quick")]),
    ("I17", "the answer of one that did not end", [called("quick"), ran_plainly("quick", ("start", 2))]),
    (
        "I17",
        "the answer of another call",
        [called("quick", payload=RAN | {"nonce": "n2"}), ran_plainly("quick", ("start", 2), ("end", 2))],
    ),
    (
        "I17",
        "run twice",
        [DIED, called("destructive"), ran_plainly("destructive", ("start", 1), ("start", 2), ("end", 2))],
    ),
    ("I17", "run twice for nothing", [called("slow"), ran_plainly("slow", ("start", 1), ("start", 2), ("end", 2))]),
    ("I17", "attempted too often", [DIED, called("slow"), ran_plainly("slow", ("start", 4))]),
    ("I17", "no clear error", [called("slow", outcome="error", reason="oops")]),
    (
        "I17",
        "refused, and run",
        [called("slow", outcome="error", reason="storage_full"), ran_plainly("slow", ("start", 1))],
    ),
    ("I17", "lost for nothing", [called("slow", outcome="error", reason="worker_lost")]),
]

FINE: list[tuple[str, list[Change]]] = [
    ("nothing happened", []),
    ("it expired", [seen(operation("get", 701, 701.1, outcome="error", reason="not_found"))]),
    ("a read that began before the end", [seen(operation("get", 101.9, 110, status="working"))]),
    ("no answer to a cancel", [seen(operation("cancel", 101, 101.1, outcome="unknown"))]),
    ("a late result after a fault", [struck("cut link", "api0", 101, 101.5), seen(replace(RESULT, ended=108.0))]),
    (
        "a second run after a kill",
        [
            struck("kill worker", "w", 100, 101),
            traced(*RERUN),
            recorded(run="2"),
            without("result"),
            seen(SECOND_RESULT),
        ],
    ),
    (
        "lost with its worker",
        [
            struck("kill worker", "w", 100, 101),
            recorded(status="failed", payload='"worker_lost"'),
            without("get", "result", "cancel", "list"),
        ],
    ),
    (
        "handed back",
        [
            struck("term worker", "w", 100, 101),
            without("result"),
            seen(SECOND_RESULT),
            recorded(run="2"),
            traced(
                trace("start", 100.2),
                trace("stopped", 100.5),
                trace("start", 101, run=2, attempt=1),
                trace("end", 102, run=2, attempt=1),
            ),
        ],
    ),
    (
        "created without an answer, and there",
        [
            recorded("0_bb", **SECOND),
            seen(UNKNOWN),
            without("list"),
            seen(replace(LISTED, tasks=(*LISTED.tasks, (OTHER, "completed")))),
        ],
    ),
    ("created without an answer, and not there", [seen(UNKNOWN)]),
    ("refused", [seen(replace(UNKNOWN, outcome="error", reason="storage_full"))]),
    ("the store was away for an answer", [seen(operation("answer", 101, 102, http=503, outcome="unknown"))]),
    (
        "the second answer ignored",
        [stored(KEYS.inputs(TASK), KEPT, 1), seen(answered("one", 101), answered("two", 102))],
    ),
    (
        "a step done again that died",
        [DIED, also_traced(*DONE[:1], *(replace(each, run=2, nonce="n2") for each in DONE))],
    ),
    ("a step done again before its record", [DIED, also_traced(*DONE[:2], stepped("step", 102, "w", run=2))]),
    (
        "an older run that goes on from a newer one's step",
        [DIED, also_traced(*(replace(each, run=2, nonce="n2") for each in DONE), stepped("kept", 102, "v", run=1))],
    ),
    (
        "a step that an older run does, whose worker hung",
        [DIED, also_traced(*(replace(each, run=2, nonce="n2") for each in DONE), stepped("step", 102, "w", run=1))],
    ),
    ("a step not done again", [DIED, also_traced(*DONE, stepped("kept", 102, "v", run=2))]),
    ("slept", [also_traced(slept("sleep", 100), slept("slept", 103.1))]),
    ("a late run still slept enough", [DIED, also_traced(slept("sleep", 100), slept("slept", 109, run=2))]),
    (
        "came to a sleep that was over",
        [also_traced(slept("sleep", 100), slept("sleep", 110, run=2), slept("slept", 110.1, run=2))],
    ),
    ("parked", [parked(attempt=1), recorded(run="2"), without("result"), seen(SECOND_RESULT)]),
    (
        "heard its answer",
        [
            stored(KEYS.inputs(TASK), ANSWER, 1),
            seen(answered("one", 100.3)),
            also_traced(HEARD),
        ],
    ),
    (
        "a question taken back and asked anew",
        [
            stored(KEYS.inputs(TASK), ANSWER, 1),
            seen(replace(answered("two", 100.3), digest="q1"), replace(answered("one", 101), digest="q2")),
        ],
    ),
    ("a plain call", [called("quick"), ran_plainly("quick", ("start", 2), ("end", 2))]),
    ("a plain call without an answer", [called("destructive", outcome="unknown"), ran_plainly("quick", ("start", 1))]),
    ("a plain call refused", [called("slow", outcome="error", reason="storage_full")]),
    ("a plain call lost", [DIED, called("quick", outcome="error", reason="worker_lost")]),
    (
        "a plain call handed back",
        [
            struck("term worker", "worker0", 100, 101),
            called("destructive"),
            ran_plainly("destructive", ("start", 1), ("stopped", 1), ("start", 2), ("end", 2)),
        ],
    ),
    ("an expired task still counted", [stored(KEYS.active("a"), [OTHER], 1000)]),
]


def judge(changes: list[Change]) -> list[str]:
    evidence = GOOD
    for change in changes:
        evidence = change(evidence)
    return check(evidence)


@pytest.mark.parametrize(("invariant", "what", "changes"), BAD, ids=[f"{name} {what}" for name, what, _ in BAD])
def test_what_breaks_an_invariant_is_found(invariant: str, what: str, changes: list[Change]) -> None:
    assert invariant in {line.partition(":")[0] for line in judge(changes)}


@pytest.mark.parametrize(("what", "changes"), FINE, ids=[what for what, _ in FINE])
def test_what_breaks_none_passes(what: str, changes: list[Change]) -> None:
    assert judge(changes) == []


def test_every_invariant_is_broken_here() -> None:
    assert {name for name, _, _ in BAD} == set(CHECKS)
