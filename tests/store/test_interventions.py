"""What operators do: cancel, purge and run again, for any owner."""

import pytest

from receiver.protocol.errors import TaskNotFound
from receiver.protocol.task_id import new_task_id
from receiver.store.audit import AuditTrail, Wanted
from receiver.store.inspect import Filter
from receiver.telemetry.audit import operator
from tests.store.world import ADA, FAILED, World, finish

NO_TASK = "0-" + "b" * 32
OPERATOR = operator("eve@desk", "test")


async def test_a_cancel_ends_a_task_of_any_owner(world: World) -> None:
    run = await world.start(owner="bob")
    async with world.listening(world.keys.signals("w1")) as hear:
        assert await world.interventions.cancel(run.task_id, "Cancelled by an operator", OPERATOR) == "cancelled"
        assert await hear() == run.task_id
    record = await world.record(run.task_id)
    assert (record["status"], record["status_message"]) == ("cancelled", "Cancelled by an operator")
    assert await world.interventions.cancel(run.task_id, "again", OPERATOR) == "finished"


async def test_what_is_no_open_task_is_not_cancelled(world: World) -> None:
    call = await world.create(kind="call", queue="plain")
    assert await world.interventions.cancel(call, "no", OPERATOR) == "call"
    assert await world.interventions.cancel(NO_TASK, "no", OPERATOR) == "gone"
    assert await world.interventions.cancel("nonsense", "no", OPERATOR) == "gone"


async def test_a_purge_leaves_nothing_of_a_task(world: World) -> None:
    run = await world.start()
    await finish(world, run)
    async with world.listening(world.keys.events(run.task_id)) as hear:
        assert await world.interventions.purge([run.task_id], OPERATOR) == {run.task_id: "purged"}
        assert await hear() == "expired"
    left = [key for key, (value, _) in (await world.dump()).items() if run.task_id in key or run.task_id in str(value)]
    assert left == []
    with pytest.raises(TaskNotFound):
        await world.tasks.get(ADA, run.task_id)
    assert await world.interventions.purge([run.task_id], OPERATOR) == {run.task_id: "gone"}


async def test_only_what_is_finished_is_purged(world: World) -> None:
    open_task, call = await world.create(), await world.create(kind="call", queue="plain")
    verdicts = await world.interventions.purge([open_task, call, NO_TASK, "nonsense"], OPERATOR)
    assert verdicts == {open_task: "unfinished", call: "call", NO_TASK: "gone", "nonsense": "gone"}
    assert (await world.record(open_task))["status"] == "working"


async def test_a_purge_that_is_sent_twice_is_one(world: World) -> None:
    first, second = await world.start(), await world.start()
    await finish(world, first)
    await finish(world, second)
    async with world.losing_replies() as lossy:
        verdicts = await lossy.interventions.purge([first.task_id], OPERATOR)
    assert verdicts[first.task_id] in ("purged", "gone")
    assert [found.id for found in (await world.inspector.search(Filter(), 10))[0]] == [second.task_id]


async def repeat(world: World, task_id: str) -> str:
    """Runs a task once more; the id of the new one."""
    dossier = await world.inspector.examine(task_id)
    assert dossier is not None
    new_id = new_task_id()
    await world.interventions.repeat(dossier, new_id, b"job", OPERATOR)
    return new_id


async def test_a_repeat_leaves_the_old_task_as_it_was(world: World) -> None:
    """T-34: whoever asked for it sees no change."""
    run = await world.start(session="s1")
    await finish(world, run, FAILED)
    before, seen = await world.record(run.task_id), await world.tasks.get(ADA, run.task_id)
    new_id = await repeat(world, run.task_id)
    assert await world.record(run.task_id) == before
    assert await world.tasks.get(ADA, run.task_id) == seen
    again = await world.record(new_id)
    assert {name: again[name] for name in ("tool", "owner", "ttl", "max_attempts", "queue")} == {
        name: before[name] for name in ("tool", "owner", "ttl", "max_attempts", "queue")
    }
    assert (again["status"], again["retry_of"], "session" in again) == ("working", run.task_id, False)
    assert (await world.claim_one()).task_id == new_id


async def test_both_tasks_name_each_other(world: World) -> None:
    run = await world.start()
    await finish(world, run, FAILED)
    new_ids = [await repeat(world, run.task_id) for _ in range(2)]
    old = await world.inspector.examine(run.task_id)
    assert old is not None
    assert old.retries == new_ids
    keys = (world.keys.task, world.keys.retries)
    ends = [await world.redis.pexpiretime(key(run.task_id)) for key in keys]
    assert ends[0] == ends[1]


async def test_a_repeat_that_is_sent_twice_makes_one_task(world: World) -> None:
    run = await world.start()
    await finish(world, run, FAILED)
    dossier = await world.inspector.examine(run.task_id)
    assert dossier is not None
    new_id = new_task_id()
    for _ in range(2):
        await world.interventions.repeat(dossier, new_id, b"job", OPERATOR)
    found = await world.inspector.examine(run.task_id)
    assert found is not None
    assert found.retries == [new_id]
    assert await world.ready() == [new_id]


async def test_acts_are_in_the_audit_trail(world: World) -> None:
    """T-98: by the step that does them, in the name of the operator."""
    run, open_task = await world.start(owner="bob"), await world.create()
    await finish(world, run, FAILED)
    new_id = await repeat(world, run.task_id)
    await world.interventions.cancel(open_task, "enough", OPERATOR)
    await world.interventions.purge([run.task_id], OPERATOR)
    page = await AuditTrail(world.client).page(limit=100, wanted=Wanted(who="eve@desk"))
    events = [entry.event for entry in reversed(page.entries)]
    assert [(event.by, event.operation, event.task, event.owner, event.detail) for event in events] == [
        ("operator", "test", new_id, "bob", ""),
        ("operator", "test", run.task_id, "bob", new_id),
        ("operator", "test", open_task, "ada", "cancelled"),
        ("operator", "test", run.task_id, "bob", "failed"),
    ]
