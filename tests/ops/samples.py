"""Views of a store, made by hand: what tests of printing print."""

from collections import Counter

import orjson

from receiver.store.census import NodeView, SessionView, WaiterView, WorkerView
from receiver.store.inspect import Dossier, Event, QueueState, Summary, Survey
from receiver.store.tallies import Count, Tally

NOW = 1_800_000_000_000
MINUTE = 60_000
HOSTILE = "\x1b]0;owned\x07\x1b[31m[red]no[/red]\r\nink\x9b2J\u202e\x00<b>"


def task_id(letter: str) -> str:
    return "0-" + letter * 32


def owner(letter: str) -> str:
    return letter * 32


def make_summaries() -> list[Summary]:
    """A task that failed, one that works, one that asks, a parked retry, and a plain call."""
    head = {"kind": "task", "owner": owner("f"), "max_attempts": "3", "method": "tools/call"}
    old, new = str(NOW - 3 * MINUTE), str(NOW - 2_500)
    return [
        Summary(task_id("a"), head | {"status": "failed", "tool": "render_report", "attempt": "3", "updated_at": new}
                | {"status_message": "no ink left in the red cartridge, and nobody to fetch another one " * 2}),
        Summary(task_id("b"), head | {"status": "working", "tool": "render_report", "attempt": "1", "updated_at": old}
                | {"progress": "3", "progress_total": "10", "progress_message": "page three"}),
        Summary(task_id("c"), head | {"status": "input_required", "tool": "compose", "updated_at": old, "parked": "1"}),
        Summary(task_id("d"), head | {"status": "completed", "tool": HOSTILE, "attempt": "1", "updated_at": old}
                | {"status_message": HOSTILE}),
        Summary(task_id("e"), {"kind": "call", "status": "working", "tool": "greet", "updated_at": str(NOW)}),
    ]  # fmt: skip


def make_dossier(text: str = "no ink") -> Dossier:
    """A task that was lost once, asked something, and failed; ``text`` is what its tool says everywhere."""
    fields = {
        "kind": "task", "status": "failed", "status_message": text, "tool": "render_report", "method": "tools/call",
        "owner": owner("f"), "principal": '{"subject":"reporting","client":"","issuer":"","scopes":[]}',
        "created_at": str(NOW - 5 * MINUTE), "updated_at": str(NOW - MINUTE), "finished_at": str(NOW - MINUTE),
        "started_at": str(NOW - 3 * MINUTE), "expires_at": str(NOW + 55 * MINUTE), "ttl": str(60 * MINUTE),
        "poll_interval": "1000", "queue": "default", "worker": "vm:2:b", "run": "2", "attempt": "2",
        "max_attempts": "3", "session": "5e5510", "protocol": "2025-11-25", "retry_of": task_id("b"),
        "outcome": "result", "trace": f"00-{'4b' * 16}-{'a1' * 8}-01",
    }  # fmt: skip
    record = {name: value.encode() for name, value in fields.items()}
    quoted = orjson.dumps(text)
    record["params"] = b'{"quarter":"2026Q4","note":' + quoted + b"}"
    record["payload"] = b'{"content":[{"type":"text","text":' + quoted + b'}],"isError":true}'
    question = "elicitation/create#1"
    inputs = {
        f"{question}:state": b"answered",
        f"{question}:method": b"elicitation/create",
        f"{question}:request": b'{"id":"ask-1","params":{"message":' + quoted + b"}}",
        f"{question}:answer": b'{"action":"accept","content":{"name":' + quoted + b"}}",
    }
    history = [
        Event(NOW - 4 * MINUTE, "lost", f"run=1 worker=vm:1:a started_at={NOW - 5 * MINUTE + 3}"),
        Event(NOW - 3 * MINUTE, "started", f"run=2 worker=vm:2:b started_at={NOW - 3 * MINUTE}"),
        Event(NOW - 2 * MINUTE, "asked", f"{question} elicitation/create"),
        Event(NOW - 2 * MINUTE + 700, "answered", question),
    ]
    return Dossier(task_id("a"), NOW, record, inputs, {"fetch#1": 1234}, history, [task_id("c")], None, 0)


def make_survey() -> Survey:
    counts = {
        "task:render_report": {"working": 3, "input_required": 1, "completed": 700_000, "failed": 12, "cancelled": 0},
        "call:greet": dict.fromkeys(("working", "input_required", "completed", "failed", "cancelled"), 0),
    }
    queues = [
        QueueState("default", ready=12_345, leased=4, later=2, oldest=95_000, workers=1),
        QueueState("plain", ready=0, leased=0, later=0, oldest=None, workers=1),
        QueueState("slow", ready=0, leased=1, later=0, oldest=None, workers=0),
    ]
    return Survey(NOW + 30_000, counts, queues, 5, 0, 2)  # type: ignore[arg-type] # its keys are statuses


def make_workers() -> list[WorkerView]:
    head = ("reports", ("plain", "default"), 10)
    return [
        WorkerView("vm:1:a", "vm", 1, "0.1.0", *head, 4, 1, NOW - 90 * MINUTE, NOW - 2_000, 10_000, 3, True),
        WorkerView(HOSTILE, HOSTILE, 2, "0.1.0", *head, 1, 0, NOW, NOW - MINUTE, 10_000, -2_300, False),
    ]


def make_nodes() -> list[NodeView]:
    url = "http://127.0.0.1:8000"
    return [
        NodeView("vm:3:c", "vm", 3, "0.1.0", "reports", url, NOW, NOW - 1_000, 0, 7, 2, 3, False),
        NodeView("vm:4:d", "vm", 4, "0.1.0", "reports", url, NOW, NOW - 1_000, 1_500, 0, 0, 0, True),
    ]


def make_waiters() -> list[WaiterView]:
    return [WaiterView("vm:3:c", task_id("b"), "task", "5e5510", owner("f"), NOW - 95_000)]


def make_sessions() -> list[SessionView]:
    client = {"name": HOSTILE, "version": 1}
    times = (NOW - 60 * MINUTE, NOW - 4_000, 1_700_000)
    return [
        SessionView("5e5510", owner("f"), *times, "2025-11-25", client, None, 1, 2, 0),
        SessionView("5e5511", owner("e"), NOW, 0, 1_000, "2025-03-26", {}, "info", 0, 0, 0),
    ]


def make_tallies() -> list[Tally]:
    """An hour and the present half minute: a render a minute, one of five fails."""
    tallies = []
    for number in range(61):
        count = Count(1, Counter({"failed" if number % 5 == 0 else "completed": 1}), Counter({40: 1}))
        tallies.append(Tally(NOW - (60 - number) * MINUTE, {"task:render_report": count}))
    return tallies
