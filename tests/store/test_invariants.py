"""What always holds, whatever happens."""

from typing import Any

import pytest

from receiver.protocol.lifecycle import STATUSES, TERMINAL
from tests.store.history import CAP, QUEUES, History
from tests.store.world import World

STEPS = 100


class Snapshot:
    """All indexes at one moment."""

    def __init__(self, world: World, dump: dict[str, Any]) -> None:
        self._dump = {name: value for name, (value, _) in dump.items()}
        self._keys = world.keys
        self.leases = self.members(world.keys.leases())
        self.later = self.members(world.keys.later())
        self.ready = {queue: self.jobs(queue) for queue in QUEUES}

    def members(self, key: str) -> set[str]:
        found = self._dump.get(key, ())
        return {(each[0] if isinstance(each, tuple) else each).decode() for each in found}

    def jobs(self, queue: str) -> set[str]:
        return {member.removeprefix(self._keys.job_prefix) for member in self.members(self._keys.queue(queue))}

    def hash(self, key: str) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = self._dump.get(key, {})
        return found

    def record(self, task_id: str) -> dict[str, str]:
        fields = self.hash(self._keys.task(task_id))
        return {name.decode(): value.decode() for name, value in fields.items()}

    def held(self, worker: str) -> set[str]:
        return {name.decode() for name in self._dump.get(self._keys.held(worker), {})}

    def has(self, key: str) -> bool:
        return key in self._dump


def check_task(now: Snapshot, before: Snapshot, world: World, task_id: str) -> None:
    """One task: it stands in one place, and goes only forward."""
    record, old = now.record(task_id), before.record(task_id)
    status, queue = record["status"], record["queue"]
    places = [task_id in now.ready[queue], task_id in now.later, task_id in now.leases]
    is_open = status not in TERMINAL
    parked = "parked" in record
    is_asked = b"open" in now.hash(world.keys.inputs(task_id)).values()
    assert not is_open or (status == "input_required") == is_asked
    assert sum(places) + (parked and not places[1]) == is_open, f"{status}, and in {places}, {parked=}"
    assert not parked or is_asked or places[1], "nothing would ever bring it back"
    assert now.has(world.keys.arq_job(task_id)) == is_open
    assert (task_id in now.members(world.keys.active(record["owner"]))) == is_open
    assert [each for each in STATUSES if task_id in now.members(world.keys.status(each))] == [status]
    assert int(record["attempt"]) <= int(record["run"])
    assert int(record["attempt"]) <= int(record["max_attempts"])
    if places[2]:
        assert task_id in now.held(record["worker"])
    if is_open and not places[2]:
        assert record.get("worker", "") == ""
    if old:
        assert int(old["run"]) <= int(record["run"])
        assert old["status"] not in TERMINAL or old == record


def check_queues(now: Snapshot, world: World, history: History) -> None:
    """What runs under a cap is counted, and whoever could be woken is."""
    keys = world.keys
    capped = {task_id for task_id in now.leases if now.record(task_id).get("queue", "").endswith(":draw")}
    assert now.members(keys.running("draw")) == capped
    for queue in QUEUES:
        has_room = len(capped) < CAP or ":" not in queue
        if now.ready[queue] and has_room and not history.passed_over:
            assert now.has(keys.bell(queue)) or now.has(keys.bell(f"{other_lane(queue)}:draw")), f"no bell for {queue}"
        assert now.ready[queue] or not now.has(keys.fair(queue))


def other_lane(queue: str) -> str:
    return "default" if queue.startswith("plain") else "plain"


@pytest.mark.parametrize("seed", range(4))
async def test_what_always_holds(world: World, seed: int) -> None:
    history = History(world, seed)
    before = Snapshot(world, await world.dump())
    for _ in range(STEPS):
        await history.step()
        now = Snapshot(world, await world.dump())
        for task_id in history.ids:
            check_task(now, before, world, task_id)
        check_queues(now, world, history)
        before = now
    await history.end()
    end = Snapshot(world, await world.dump())
    assert {end.record(task_id)["status"] for task_id in history.ids} <= TERMINAL
    assert len(history.finished) == len(set(history.finished)), "a task was finished twice"
