"""The evidence, by task: what the checker looks up again and again."""

import json
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from receiver.store.keys import Keys
from tests.chaos.evidence import Evidence, Operation, Trace

KEYS = Keys()
HARMLESS = ("script flush", "kill pubsub", "squeeze memory")
STORE_FAULTS = ("kill store", "pause store", "debug sleep")
MARGIN_SECONDS = 1.0


class Ledger:
    """Looks into one piece of evidence."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self.created: dict[str, Operation] = {}
        self.sightings: dict[str, list[Operation]] = defaultdict(list)
        self.results: dict[str, list[Operation]] = defaultdict(list)
        self.answers: dict[str, list[Operation]] = defaultdict(list)
        self.traces: dict[str, list[Trace]] = defaultdict(list)
        self.plain_traces: dict[str, list[Trace]] = defaultdict(list)  # of plain calls, by label
        self.final_lists = [each for each in evidence.operations if each.op == "list" and each.is_final]
        for operation in evidence.operations:
            if operation.op == "create" and operation.outcome == "ok":
                self.created[operation.task] = operation
        for operation in evidence.operations:
            self._enter(operation)
        for trace in evidence.traces:
            if trace.task:
                self.traces[trace.task].append(trace)
            else:
                self.plain_traces[trace.label].append(trace)

    def owner(self, task: str) -> str:
        """Who created a task; ``""`` where that was never acknowledged."""
        return self.created[task].principal if task in self.created else ""

    def last_status(self, task: str) -> set[str]:
        """The status in the record, if there is one."""
        record = self._evidence.dump.records.get(task)
        return {record["status"]} if record else set()

    def label(self, record: Mapping[str, str]) -> str:
        """Which create made a record."""
        params: Any = json.loads(record.get("params") or "{}")
        return str(params.get("label", ""))

    def kept_answer(self, task: str) -> str:
        """The word that is stored as the answer of a task's question; ``""`` if there is none."""
        for name, value in (self._evidence.dump.values.get(KEYS.inputs(task)) or {}).items():
            if name.endswith(":answer"):
                return str(json.loads(value).get("result", {}).get("content", {}).get("word", ""))
        return ""

    def first_answer(self, task: str) -> float | None:
        """When the answer that is kept was first accepted; None if that is not known."""
        kept = self.kept_answer(task)
        answers = [answer for answer in self.answers.get(task, []) if kept and answer.label == kept]
        return min((answer.ended for answer in answers if answer.outcome == "ok"), default=None)

    def last_fault(self, begun: float, ended: float) -> float | None:
        """When the last fault of any kind in this time was over, or its process served again; None without one."""
        ends = [end for start, end in self._all_faults if start <= ended and end >= begun]
        return max(ends, default=None)

    def is_touched(self, task: str) -> bool:
        """Whether a worker, or its link, had a fault while the task was open, or so shortly before that it matters."""
        record, created = self._evidence.dump.records.get(task), self.created.get(task)
        if record is None or created is None:
            return True  # nobody knows how long it was open
        finished = int(record.get("finished_at") or 0) / 1000 or self._evidence.dump.at
        return self.is_struck(created.begun, finished)

    def is_struck(self, begun: float, ended: float) -> bool:
        """Whether a worker, or its link, had a fault in this time, or so shortly before that it matters."""
        return any(start <= ended and end >= begun for start, end in self._worker_faults)

    @cached_property
    def _all_faults(self) -> list[tuple[float, float]]:
        margin = MARGIN_SECONDS + self._evidence.lease
        faults = [fault for fault in self._evidence.faults if fault.kind != "script flush"]
        return [(fault.begun, fault.ended + margin) for fault in faults]

    @cached_property
    def _worker_faults(self) -> list[tuple[float, float]]:
        margin = MARGIN_SECONDS + 2 * self._evidence.lease
        return [
            (fault.begun, fault.ended + margin)
            for fault in self._evidence.faults
            if fault.kind not in HARMLESS + STORE_FAULTS and not fault.target.startswith(("api", "store"))
        ]

    def _enter(self, operation: Operation) -> None:
        is_own = operation.principal == self.owner(operation.task)
        if operation.op == "list":
            for task, status in operation.tasks:
                self.sightings[task].append(_sight(operation, status))
        elif operation.op == "answer":
            self.answers[operation.task].append(operation)
        elif is_own and operation.op != "create" and operation.status:
            self.sightings[operation.task].append(operation)
        is_result = operation.op == "result" and is_own and operation.digest and operation.outcome != "unknown"
        if is_result and operation.reason != "not_found":
            self.results[operation.task].append(operation)


def _sight(listing: Operation, status: str) -> Operation:
    return Operation("get", listing.principal, listing.begun, listing.ended, "ok", status=status)
