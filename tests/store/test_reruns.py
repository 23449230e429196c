"""Questions and answers over several runs of a task: asked once, and answered for all of them."""

import pytest

from receiver.session import Session
from receiver.store.inputs import AskedOtherwise, Question
from receiver.store.record import ClaimedRun
from receiver.store.runs import Verdict
from tests.store.clients import ANSWER, ask, begin_session, follow, new_question
from tests.store.world import World


async def asked(world: World) -> tuple[Session, ClaimedRun, Question]:
    """A run that has asked its client."""
    session = await begin_session(world)
    run = await world.start(session=session.id)
    question = await ask(world, run)
    assert await follow(world, session, run.task_id).look() == [question.body]
    return session, run, question


async def status_of(world: World, run: ClaimedRun) -> str:
    return (await world.record(run.task_id))["status"]


async def test_a_later_run_does_not_ask_again(world: World) -> None:
    session, run, first = await asked(world)
    await world.lose_lease(run.task_id)
    later = await world.claim_one("w2")
    again = new_question()
    assert await world.inputs.ask(later.task_id, later.run, again) is Verdict.DONE
    assert await world.inputs.find(again.request_id, session) is None
    assert await status_of(world, run) == "input_required"
    async with world.listening(world.keys.signals("w2")) as heard:
        assert await world.inputs.answer(first.request_id, session, ANSWER)
        assert await heard() == run.task_id
    assert await world.inputs.ask(later.task_id, later.run, again) == ANSWER
    assert await status_of(world, run) == "working"


async def test_a_task_that_lost_its_worker_still_takes_the_answer(world: World) -> None:
    session, run, question = await asked(world)
    await world.lose_lease(run.task_id)
    assert await world.recover() == {run.task_id: "requeued"}
    assert await status_of(world, run) == "input_required"
    assert await world.inputs.answer(question.request_id, session, ANSWER)
    later = await world.claim_one("w2")
    assert later.attempt == 2
    assert await world.inputs.ask(later.task_id, later.run, new_question()) == ANSWER


async def test_a_run_whose_lease_was_lost_may_ask_until_another_begins(world: World) -> None:
    run = await world.start(session=(await begin_session(world)).id)
    await world.lose_lease(run.task_id)
    await world.recover()
    await ask(world, run)
    assert (await world.claim_one("w2")).run == 2


async def test_a_run_that_asks_something_else_is_told(world: World) -> None:
    session, run, question = await asked(world)
    for is_answered in (False, True):
        if is_answered:
            await world.inputs.answer(question.request_id, session, ANSWER)
        before = await world.dump()
        with pytest.raises(AskedOtherwise):
            await world.inputs.ask(run.task_id, run.run, new_question(text="Which other one?"))
        assert await world.dump() == before
