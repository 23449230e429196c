"""Questions whose answer is not wanted any more: who was asked is told, and nobody else."""

import orjson
import pytest

from receiver.protocol.client_task import ClientTask
from receiver.store.runs import Verdict
from tests.store.asked import TASKS, THEIRS, begin, end, question_of
from tests.store.clients import (
    ANSWER,
    ask,
    begin_session,
    follow,
    hear,
    start_call,
)
from tests.store.world import World, finish

# Withdrawn


async def test_who_was_asked_plainly_hears_that_it_is_withdrawn(world: World) -> None:
    scene = await begin(world, as_task=False)
    async with world.losing_replies() as lossy:
        run = scene.run
        assert await lossy.inputs.withdraw(run.task_id, run.run, scene.question.name) is Verdict.DONE
    assert (await scene.state(), await scene.status()) == ("closed", "working")
    (told,) = await scene.messages()
    assert told == {"method": "notifications/cancelled", "about": scene.question.request_id}
    assert not await world.inputs.answer(scene.question.request_id, scene.session, ANSWER)


async def test_who_was_not_asked_hears_nothing(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    question = question_of(as_task=False)
    await world.inputs.ask(run.task_id, run.run, question)
    await world.inputs.withdraw(run.task_id, run.run, question.name)
    assert b"cancelled" not in b"".join(await hear(world, session).look())


@pytest.mark.parametrize("accepted", [True, False])
async def test_the_task_of_a_question_that_is_withdrawn_is_cancelled(world: World, accepted: bool) -> None:  # T-73
    scene = await begin(world)
    if accepted:
        await scene.accept()
        await scene.poll()
        await scene.polled()
    await scene.withdraw()
    if not accepted:
        assert await scene.messages() == []  # nothing of it is known yet
        assert not await scene.accept()
    cancel = await scene.polled()
    assert (cancel["method"], cancel["params"]) == ("tasks/cancel", {"taskId": THEIRS.id})
    found = await world.inputs.find(cancel["id"], scene.session)
    assert found is not None  # what the client says to it is no answer to nothing (H-07)
    assert found.request == {}
    assert (await scene.state(), await scene.status()) == ("closed", "working")


@pytest.mark.parametrize("accepted", [True, False])
async def test_a_client_that_cancels_no_tasks_is_not_asked_to(world: World, accepted: bool) -> None:  # L-02
    scene = await begin(world, {"elicitation": {}, "tasks": {"requests": {"elicitation": {"create": {}}}}})
    if accepted:
        await scene.accept()
    await scene.withdraw()
    if not accepted:
        assert not await scene.accept()
    assert await scene.messages() == []


async def test_only_the_session_that_has_the_task_is_told(world: World) -> None:
    scene = await begin(world)
    await scene.accept()
    other = await begin_session(world, capabilities=TASKS)
    await scene.withdraw()
    for stream in (hear(world, other), follow(world, other, scene.run.task_id)):
        assert await scene.messages(stream) == []
    assert (await scene.polled(hear(world, scene.session)))["method"] == "tasks/cancel"


async def test_an_answer_that_the_run_gives_itself(world: World) -> None:
    scene = await begin(world)
    await scene.accept()
    async with world.losing_replies() as lossy:
        run = scene.run
        assert await lossy.inputs.withdraw(run.task_id, run.run, scene.question.name, ANSWER) is Verdict.DONE
    assert await scene.messages() == []
    assert await scene.status() == "working"
    assert await world.inputs.ask(scene.run.task_id, scene.run.run, question_of()) == ANSWER


async def test_another_question_keeps_the_task_waiting(world: World) -> None:  # T-40
    scene = await begin(world)
    await ask(world, scene.run, 2)
    await scene.accept()
    await scene.withdraw()
    assert await scene.status() == "input_required"


async def test_a_withdrawn_question_is_opened_anew(world: World) -> None:
    scene = await begin(world)
    await scene.accept()
    await scene.withdraw()
    await scene.messages()
    again = question_of()
    async with world.losing_replies() as lossy:
        assert await lossy.inputs.ask(scene.run.task_id, scene.run.run, again) is Verdict.DONE
    assert (await scene.polled())["id"] == again.request_id
    assert (await scene.state(), await scene.status()) == ("open", "input_required")
    assert not await world.inputs.answer(scene.question.request_id, scene.session, ANSWER)
    assert not await scene.accept(ClientTask("theirs-2", "working", None, 0))
    assert await scene.state() == "open"
    assert await world.inputs.answer(again.request_id, scene.session, ANSWER)


async def test_an_answered_question_is_not_withdrawn(world: World) -> None:
    scene = await begin(world, as_task=False)
    await world.inputs.answer(scene.question.request_id, scene.session, ANSWER)
    before = await world.dump()
    assert await scene.withdraw() is Verdict.DONE
    assert await world.dump() == before


# The end of our task


@pytest.mark.parametrize("how", ["finish", "cancel", "lose"])
async def test_open_and_accepted_questions_end_with_the_task(world: World, how: str) -> None:
    scene = await begin(world, max_attempts=1)
    await scene.accept()
    plain, unheard = question_of(2, as_task=False), question_of(3, as_task=False)
    await world.inputs.ask(scene.run.task_id, scene.run.run, plain)
    await scene.stream.look()
    await world.inputs.ask(scene.run.task_id, scene.run.run, unheard)
    await end(scene, how)
    found = [orjson.loads(body) for body in await scene.stream.look()]
    assert sorted(message["method"] for message in found[:2]) == ["notifications/cancelled", "tasks/cancel"]
    assert [message["method"] for message in found[2:]] == ["notifications/tasks/status"]
    assert plain.request_id in orjson.dumps(found).decode()
    assert await world.members(world.keys.session_outbox(scene.session.id)) == []
    assert not await world.inputs.answer(plain.request_id, scene.session, ANSWER)


@pytest.mark.parametrize("how", ["finish", "cancel", "lose"])
async def test_a_task_that_comes_after_the_end_is_cancelled(world: World, how: str) -> None:  # T-73
    scene = await begin(world, max_attempts=1)
    await end(scene, how)
    await scene.messages()
    async with world.losing_replies() as lossy:
        assert not await lossy.inputs.accept(scene.question.request_id, scene.session, THEIRS)
    assert (await scene.polled(hear(world, scene.session)))["method"] == "tasks/cancel"


async def test_a_task_that_comes_when_all_is_expired(world: World) -> None:
    scene = await begin(world)
    await world.expire(scene.run.task_id)
    await world.redis.delete(world.keys.inputs(scene.run.task_id))
    assert not await scene.accept()
    assert not await world.redis.exists(world.keys.inputs(scene.run.task_id))


async def test_the_question_of_a_plain_call_that_is_cancelled(world: World) -> None:
    session = await begin_session(world, capabilities=TASKS)
    run = await start_call(world, session)
    question = question_of()
    stream = follow(world, session, run.task_id, kind="call", request=b"1")
    await world.inputs.ask(run.task_id, run.run, question)
    await stream.look()
    await world.inputs.accept(question.request_id, session, THEIRS)
    await world.sessions.cancel_request(session, b"1")
    (cancel,) = await hear(world, session).look()
    assert orjson.loads(cancel)["method"] == "tasks/cancel"


async def test_what_is_said_to_a_session_that_ended_is_not_kept(world: World) -> None:
    scene = await begin(world)
    await scene.accept()
    await world.sessions.end(scene.session)
    await scene.withdraw()
    assert not await world.redis.exists(world.keys.session_outbox(scene.session.id))


async def test_mail_whose_stream_was_lost_comes_again(world: World) -> None:
    scene = await begin(world)
    await scene.accept()
    await scene.withdraw()
    stood = scene.stream.position
    first = await scene.polled()
    again = scene.stream.resumed(stood)
    assert await scene.polled(again) == first


# Order, and what concerns one session alone


async def test_questions_come_in_the_order_of_their_numbers(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    asked = [await ask(world, run, number, f"{number}?") for number in range(1, 13)]
    assert await follow(world, session, run.task_id).look() == [question.body for question in asked]


async def test_what_is_told_of_a_question_goes_to_who_was_asked(world: World) -> None:  # E-04
    scene = await begin(world, as_task=False)
    other, run, told = await begin_session(world), scene.run, b'{"method":"told"}'
    async with world.losing_replies() as lossy:
        assert await lossy.inputs.tell(run.task_id, run.run, scene.question.name, told) is Verdict.DONE
    assert await scene.messages(follow(world, other, run.task_id)) == []
    assert await scene.messages() == [{"method": "told"}]
    await finish(world, run)
    before = await world.dump()
    assert await world.inputs.tell(run.task_id, run.run, scene.question.name, told) is Verdict.TERMINAL
    assert await world.dump() == before
