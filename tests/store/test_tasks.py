"""Reading tasks: for their owner, and for nobody else."""

from typing import Any

import pytest

from receiver.protocol.errors import TaskNotFound
from receiver.protocol.task import Task
from receiver.protocol.task_id import new_task_id
from tests.store.world import ADA, DONE, TTL, World, finish, new_task

MALFORMED: list[Any] = ["", "0-", "0", None, 7, True, ["x"], {}, "*", "0-" + "g" * 32, "0-" + "0" * 32 + "\n", "é" * 34]


async def test_a_new_task(world: World) -> None:
    new = new_task()
    created_at = await world.tasks.create(ADA, new)
    expected = Task(new.id, "working", None, created_at, created_at, TTL, 1000)
    assert await world.tasks.get(ADA, new.id) == expected


async def test_progress_of_a_new_task(world: World) -> None:
    task_id = await world.create()
    progress = await world.tasks.get_progress(ADA, task_id)
    assert (progress.status, progress.outcome, progress.payload) == ("working", None, None)
    assert TTL - 10_000 < progress.remaining <= TTL


@pytest.mark.parametrize("task_id", MALFORMED)
async def test_a_malformed_id_is_unknown(world: World, task_id: Any) -> None:  # T-76
    with pytest.raises(TaskNotFound):
        await world.tasks.get(ADA, task_id)
    with pytest.raises(TaskNotFound):
        await world.tasks.get_progress(ADA, task_id)


async def test_foreign_unknown_and_expired_tasks_are_the_same(world: World) -> None:  # T-89
    theirs, expired = await world.create("bob"), await world.create("ada")
    await world.forget(expired)
    for task_id in (theirs, expired, new_task_id()):
        with pytest.raises(TaskNotFound):
            await world.tasks.get(ADA, task_id)
        with pytest.raises(TaskNotFound):
            await world.tasks.get_progress(ADA, task_id)


async def test_a_plain_call_is_no_task(world: World) -> None:
    call_id = await world.create("ada", kind="call", queue="plain")
    with pytest.raises(TaskNotFound):
        await world.tasks.get(ADA, call_id)
    with pytest.raises(TaskNotFound):
        await world.tasks.get_progress(ADA, call_id)


async def test_statuses_of_many_whoever_owns_them(world: World) -> None:
    run = await world.start("w1", owner="bob")
    await finish(world, run, DONE)
    working, gone = await world.create("ada"), new_task_id()
    assert await world.tasks.get_statuses([run.task_id, gone, working]) == ["completed", "", "working"]
    assert await world.tasks.get_statuses([]) == []


async def test_reading_changes_nothing(world: World) -> None:
    task_id = await world.create()
    before = await world.dump()
    await world.tasks.get(ADA, task_id)
    await world.tasks.get_progress(ADA, task_id)
    await world.tasks.get_statuses([task_id])
    await world.tasks.list_page(ADA, 10, None)
    assert await world.dump() == before
