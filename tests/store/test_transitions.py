"""The table of protocol/lifecycle.py against the scripts: all 25 pairs."""

from contextlib import suppress
from dataclasses import dataclass
from itertools import product

import pytest

from receiver.protocol.errors import TaskAlreadyFinished
from receiver.protocol.lifecycle import STATUSES, TERMINAL, Status, may_follow
from receiver.session import Session
from receiver.store.inputs import Question
from receiver.store.record import ClaimedRun
from tests.store.clients import ANSWER, ask, begin_session, follow, new_question
from tests.store.world import ADA, DONE, FAILED, LABEL, World, finish


@dataclass(frozen=True)
class Scene:
    """A run of a task, and what it has asked, if that is still open."""

    run: ClaimedRun
    session: Session
    question: Question | None


async def reach(world: World, status: Status) -> Scene:
    """A task in ``status``; one that has ended did so with a question open."""
    session = await begin_session(world)
    run = await world.start(session=session.id)
    if status == "working":
        return Scene(run, session, None)
    question = await ask(world, run, 1)
    assert question.body in await follow(world, session, run.task_id).look()
    if status == "cancelled":
        await world.tasks.cancel(ADA, run.task_id, "")
    elif status in TERMINAL:
        await finish(world, run, DONE if status == "completed" else FAILED)
    return Scene(run, session, question)


async def attempt(world: World, scene: Scene, status: Status) -> None:
    """Everything that could bring the task to ``status``."""
    run = scene.run
    if status == "completed":
        await finish(world, run, DONE)
    elif status == "failed":
        await finish(world, run, FAILED)
        await world.redis.hset(world.keys.task(run.task_id), "max_attempts", 1)
        await world.lose_lease(run.task_id)
        await world.recover()
    elif status == "cancelled":
        with suppress(TaskAlreadyFinished):
            await world.tasks.cancel(ADA, run.task_id, "")
    elif status == "input_required":
        await world.inputs.ask(run.task_id, run.run, new_question(2))
    else:
        await attempt_to_work(world, scene)


async def attempt_to_work(world: World, scene: Scene) -> None:
    run = scene.run
    await world.runs.report(run.task_id, run.run, {"status_message": "at it"})
    world.beat(run)
    if scene.question is not None:
        await world.inputs.answer(scene.question.request_id, scene.session, ANSWER)
    await world.runs.requeue(run.task_id, run.run, "retry")
    await world.recover()


@pytest.mark.parametrize(("before", "after"), list(product(STATUSES, repeat=2)))
async def test_the_scripts_do_what_the_table_allows_and_nothing_else(
    world: World, before: Status, after: Status
) -> None:  # T-32, T-33, T-34
    scene = await reach(world, before)
    await attempt(world, scene, after)
    found = (await world.tasks.get(ADA, scene.run.task_id)).status
    assert found == (after if may_follow(before, after) else before)
    for status in STATUSES:
        assert await world.members(world.keys.status(status, LABEL)) == ([scene.run.task_id] if status == found else [])


@pytest.mark.parametrize("status", sorted(TERMINAL))
async def test_nothing_at_all_changes_an_ended_task(world: World, status: Status) -> None:  # T-34
    scene = await reach(world, status)
    record = await world.record(scene.run.task_id)
    for following in STATUSES:
        await attempt(world, scene, following)
        await world.claim("w2")
        await world.runs.leave("w1")
    changed = await world.record(scene.run.task_id)
    assert {**changed, "max_attempts": ""} == {**record, "max_attempts": ""}


async def test_nothing_but_an_answer_lets_a_task_work_again(world: World) -> None:  # T-40
    scene = await reach(world, "input_required")
    await attempt_to_work(world, Scene(scene.run, scene.session, None))
    await world.claim("w2")
    assert (await world.tasks.get(ADA, scene.run.task_id)).status == "input_required"
