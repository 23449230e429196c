"""Everything that stands in a store at one moment."""

from functools import cached_property
from typing import Any

from receiver.store.keys import Keys


class Snapshot:
    """A dump, read as what it means.  ``moved``: by how much the store's time was moved back."""

    def __init__(self, keys: Keys, dump: dict[str, Any], store_time: int, moved: int = 0) -> None:
        self.keys = keys
        self.dump = dump
        self.store_time = store_time
        self.taken_at = store_time + moved

    def has(self, key: str) -> bool:
        return key in self.dump

    def scores(self, key: str) -> dict[str, float]:
        """A zset."""
        return {member.decode(): score for member, score in self.dump.get(key, ((), 0))[0]}

    def members_of(self, key: str) -> set[str]:
        """What is in a zset."""
        return set(self.scores(key))

    def members(self, key: str) -> set[str]:
        """What is in a set."""
        return {member.decode() for member in self.dump.get(key, ((), 0))[0]}

    def hash(self, key: str) -> dict[str, bytes]:
        return {name.decode(): value for name, value in self.dump.get(key, ({}, 0))[0].items()}

    @cached_property
    def leases(self) -> dict[str, float]:
        return self.scores(self.keys.leases())

    @cached_property
    def later(self) -> dict[str, float]:
        return self.scores(self.keys.later())

    def ready(self, queue: str) -> list[str]:
        """The task ids in a queue, first to be claimed first."""
        return [job.removeprefix(self.keys.job_prefix) for job in self.scores(self.keys.queue(queue))]

    def record(self, task_id: str) -> dict[str, str]:
        """A task, {} for one that is gone."""
        return {name: value.decode() for name, value in self.hash(self.keys.task(task_id)).items()}

    def inputs(self, task_id: str) -> dict[str, str]:
        return {name: value.decode() for name, value in self.hash(self.keys.inputs(task_id)).items()}

    def steps(self, task_id: str) -> dict[str, bytes]:
        return self.hash(self.keys.steps(task_id))

    def questions(self, task_id: str) -> dict[str, str]:
        """The state of each question."""
        ending, poll = ":state", "/poll:state"
        found = self.inputs(task_id).items()
        return {
            name.removesuffix(ending): state
            for name, state in found
            if name.endswith(ending) and not name.endswith(poll)
        }

    def is_waiting(self, task_id: str) -> bool:
        """Whether any question is open, or a task of the client's works on it."""
        return bool({"open", "accepted"} & set(self.questions(task_id).values()))

    def places(self, task_id: str) -> list[str]:
        """Where a task stands: in one place, if it is open.  Whoever sleeps parked is in two."""
        record = self.record(task_id)
        found = [name for name in ("leases", "later") if task_id in getattr(self, name)]
        if task_id in self.ready(record.get("queue", "")):
            found.append("ready")
        return found + ["parked"] * ("parked" in record)

    def holds_fence(self, task_id: str, run: int) -> bool:
        """Whether a run may write: the newest of an open task, with its worker or lost, and not given back."""
        record = self.record(task_id)
        is_open = record.get("status") in ("working", "input_required")
        return is_open and record["run"] == str(run) and bool(record.get("worker") or "lost" in record)
