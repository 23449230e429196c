"""What always holds, of one moment and the moment before it."""

from collections.abc import Iterable

from receiver.protocol.lifecycle import STATUSES, TERMINAL, may_follow
from receiver.store.diagnosis.strays import find_spec
from receiver.store.keys import Keys
from tests.leaks import FOREVER
from tests.properties.snapshot import Snapshot

QUEUES = ("plain", "plain:draw", "default", "default:draw")
LABELS = ("task:draw", "call:draw")
CAP = 2


def check_task(now: Snapshot, task_id: str) -> None:
    """One task that has not expired: all that is said of it agrees."""
    keys, record = now.keys, now.record(task_id)
    status, places, queue = record["status"], now.places(task_id), record["queue"]
    is_open = status not in TERMINAL
    one_place = places in (["leases"], ["later"], ["ready"], ["parked"], ["later", "parked"])
    assert one_place if is_open else not places, f"{status}, and in {places}"
    assert not is_open or (status == "input_required") == now.is_waiting(task_id), (
        "its status does not tell of its questions"
    )
    assert places != ["parked"] or now.is_waiting(task_id), "nothing would ever bring it back"
    assert now.has(keys.arq_job(task_id)) == is_open
    assert (task_id in now.members_of(keys.active(record["owner"]))) == is_open
    label = f"{record['kind']}:{record['tool']}"
    assert [each for each in STATUSES if task_id in now.members_of(keys.status(each, label))] == [status]
    assert int(record["attempt"]) <= min(int(record["run"]), int(record["max_attempts"]))
    assert bool(record.get("worker")) == ("leases" in places) or not is_open, "who has it?"
    if now.leases.get(task_id, 0) > now.store_time:  # a worker that was silent for long is forgotten
        assert task_id in now.hash(keys.held(record["worker"])), "its worker does not know of it"
    capped = queue.partition(":")[2]
    assert not capped or (task_id in now.members(keys.running(capped))) == ("leases" in places)
    assert ("payload" in record) == ("outcome" in record) == (status in ("completed", "failed"))


def check_progress(before: Snapshot, now: Snapshot, task_id: str) -> None:
    """A task goes forward, and by legal changes alone (T-32, T-33, T-34)."""
    old, record = before.record(task_id), now.record(task_id)
    assert old["status"] == record["status"] or may_follow(old["status"], record["status"])  # type: ignore[arg-type]
    assert int(old["run"]) <= int(record["run"]) <= int(old["run"]) + 1
    assert int(old["attempt"]) <= int(record["attempt"]) <= int(old["attempt"]) + 1
    assert int(old["updated_at"]) <= int(record["updated_at"])
    assert all(old[name] == record[name] for name in ("created_at", "owner", "ttl", "kind", "queue"))
    if old["status"] in TERMINAL:
        changing = {"expires_at", "unwanted"}
        assert {**old, **dict.fromkeys(changing)} == {**record, **dict.fromkeys(changing)}, "it had ended"
    given, recorded = _answers(before, task_id), _steps(before, task_id)
    assert given.items() <= _answers(now, task_id).items(), "an answer was lost, or given twice"
    assert recorded.items() <= _steps(now, task_id).items(), "a step was forgotten"


def _answers(snapshot: Snapshot, task_id: str) -> dict[str, str]:
    inputs = snapshot.inputs(task_id).items()
    return {name: value for name, value in inputs if name.endswith(":answer") and "/poll" not in name}


def _steps(snapshot: Snapshot, task_id: str) -> dict[str, bytes]:
    return {name: value for name, value in snapshot.steps(task_id).items() if not name.endswith(":due")}


def check_keys(now: Snapshot) -> None:
    """Every key is in the table, and has a TTL unless the table says that it needs none."""
    for key, (_, expires) in now.dump.items():
        spec = find_spec(now.keys, key)
        assert spec is not None, f"{key} is not in the table of keys"
        assert spec.is_permanent or expires != FOREVER, f"{key} has no TTL"


def check_indexes(now: Snapshot, living: set[str], dead: set[str]) -> None:
    """Nothing stands in an index but tasks that live, and expired ones until they are swept."""
    keys: Keys = now.keys
    found = set(now.leases) | set(now.later) | now.members(keys.running("draw"))
    for queue in QUEUES:
        found |= set(now.ready(queue))
    for status in STATUSES:
        for label in LABELS:
            found |= now.members_of(keys.status(status, label))
    unswept = {entry.split("/")[1] for entry in now.scores(keys.expiry())}
    assert living <= unswept, "nobody would sweep it"
    assert found <= living | (dead & unswept), "an orphan"


def check_queues(now: Snapshot, *, rung: bool) -> None:
    """What runs under a cap is no more than that, and whoever could be woken is."""
    keys = now.keys
    running = now.members(keys.running("draw"))
    assert len(running) <= CAP or not rung
    for queue in QUEUES:
        has_room = len(running) < CAP or ":" not in queue
        if rung and has_room and now.ready(queue):
            lane = "default" if queue.startswith("plain") else "plain"
            assert now.has(keys.bell(queue)) or now.has(keys.bell(f"{lane}:draw")), f"no bell for {queue}"
        assert now.ready(queue) or not now.has(keys.fair(queue))


def check_all(before: Snapshot, now: Snapshot, living: Iterable[str], dead: set[str]) -> None:
    """All of it but the queues."""
    living = set(living)
    for task_id in living:
        check_task(now, task_id)
        if before.record(task_id):
            check_progress(before, now, task_id)
    check_keys(now)
    check_indexes(now, living, dead)
