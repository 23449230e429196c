"""Answers: each counts once, from whoever was asked."""

import asyncio
from typing import Any

import pytest

from receiver.session import Session
from receiver.store.inputs import Asked, Question
from receiver.store.record import ClaimedRun
from tests.store.clients import (
    ANSWER,
    OTHER_ANSWER,
    ask,
    begin_session,
    follow,
    hear,
    new_session,
    read_answer,
    say,
    start_call,
)
from tests.store.world import ADA, LABEL, World, finish


async def asked(world: World, **options: Any) -> tuple[Session, ClaimedRun, Question]:
    """A run that has asked its client."""
    session = await begin_session(world)
    run = await world.start(session=session.id, **options)
    question = await ask(world, run)
    assert await follow(world, session, run.task_id).look() == [question.body]
    return session, run, question


async def status_of(world: World, run: ClaimedRun) -> str:
    return (await world.record(run.task_id))["status"]


async def read(world: World, run: ClaimedRun, question: Question) -> bytes | None:
    return await read_answer(world, run.task_id, question.name)


# One answer


async def test_an_answer_lets_the_task_work_again_and_wakes_its_worker(world: World) -> None:  # T-40
    session, run, question = await asked(world)
    await world.redis.hset(world.keys.task(run.task_id), "updated_at", 1)
    async with world.listening(world.keys.signals("w1")) as heard:
        assert await world.inputs.answer(question.request_id, session, ANSWER)
        assert await heard() == run.task_id
    task = await world.tasks.get(ADA, run.task_id)
    assert (task.status, task.updated_at >= run.claimed_at) == ("working", True)
    assert await world.members(world.keys.status("working", LABEL)) == [run.task_id]
    assert await world.members(world.keys.status("input_required", LABEL)) == []
    assert await read(world, run, question) == ANSWER


async def test_what_was_asked_can_be_found_whoever_answers(world: World) -> None:
    session, run, question = await asked(world)
    request = {"id": question.request_id, "text": question.digest}
    expected = Asked(run.task_id, request, request)
    assert await world.inputs.find(question.request_id, session) == expected
    await world.inputs.answer(question.request_id, session, ANSWER)
    assert await world.inputs.find(question.request_id, session) == expected


async def test_only_the_first_answer_counts(world: World) -> None:  # F12
    session, run, question = await asked(world)
    assert await world.inputs.answer(question.request_id, session, ANSWER)
    before = await world.dump()
    assert not await world.inputs.answer(question.request_id, session, OTHER_ANSWER)
    assert await world.dump() == before
    assert await read(world, run, question) == ANSWER


async def test_sent_again_when_its_reply_was_lost(world: World) -> None:
    session, run, question = await asked(world)
    stream = follow(world, session, run.task_id)
    await stream.look()
    async with world.losing_replies() as lossy:
        assert await lossy.inputs.answer(question.request_id, session, ANSWER)
    assert await status_of(world, run) == "working"
    assert len(await stream.look()) == 1  # its status


async def test_the_same_answer_is_a_success_whatever_came_of_the_task(world: World) -> None:
    session, run, question = await asked(world)
    await world.inputs.answer(question.request_id, session, ANSWER)
    await finish(world, run)
    before = await world.dump()
    assert await world.inputs.answer(question.request_id, session, ANSWER)
    assert await world.dump() == before


# Who may answer


async def test_nobody_else_answers(world: World) -> None:  # E-05, F12
    asked_one, _, question = await asked(world)
    others = [await begin_session(world), new_session(), await begin_session(world, "bob")]
    stolen = Session(asked_one.id, "bob", asked_one.revision, {})
    before = await world.dump()
    for session in (*others, stolen):
        assert await world.inputs.find(question.request_id, session) is None
        assert not await world.inputs.answer(question.request_id, session, ANSWER)
    assert await world.dump() == before


@pytest.mark.parametrize("request_id", ["", "x", "ask-", "*", "ask-" + "0" * 32, "ask-{0}", "é\n", "a/b"])
async def test_an_id_that_was_never_given_out_is_unknown(world: World, request_id: str) -> None:  # H-07
    session, _, _ = await asked(world)
    before = await world.dump()
    assert await world.inputs.find(request_id, session) is None
    assert not await world.inputs.answer(request_id, session, ANSWER)
    assert await world.dump() == before


async def test_a_question_that_was_not_given_out_yet_is_not_answered(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    question = await ask(world, run)
    assert await world.inputs.find(question.request_id, session) is None
    assert not await world.inputs.answer(question.request_id, session, ANSWER)


async def test_another_session_that_was_asked_answers(world: World) -> None:
    """As one of a client whose first session ended."""
    session, run, question = await asked(world)
    await world.sessions.end(session)
    newer = await begin_session(world)
    for stream_id in await world.redis.zrange(world.keys.listeners(run.task_id), 0, -1):
        await world.redis.delete(world.keys.stream(stream_id.decode()))
    assert question.body in await follow(world, newer, run.task_id).look()
    assert await world.inputs.answer(question.request_id, newer, ANSWER)
    assert await read(world, run, question) == ANSWER


# Too late


@pytest.mark.parametrize("end", ["finish", "cancel", "lost"])
async def test_an_answer_to_a_task_that_has_ended_is_too_late(world: World, end: str) -> None:
    session, run, question = await asked(world, max_attempts=1)
    if end == "finish":
        await finish(world, run)
    elif end == "cancel":
        await world.tasks.cancel(ADA, run.task_id, "")
    else:
        await world.lose_lease(run.task_id)
        assert await world.recover() == {run.task_id: "failed"}
    before = await world.dump()
    assert not await world.inputs.answer(question.request_id, session, ANSWER)
    found = await world.inputs.find(question.request_id, session)
    assert found is not None
    assert found.request
    assert await world.dump() == before


async def test_an_answer_to_a_task_that_has_expired_is_too_late_and_not_unknown(world: World) -> None:  # H-07
    session, run, question = await asked(world)
    await world.expire(run.task_id)
    await world.redis.delete(world.keys.inputs(run.task_id))
    assert await world.inputs.find(question.request_id, session) == Asked(run.task_id, {}, {})
    assert not await world.inputs.answer(question.request_id, session, ANSWER)
    assert not await world.redis.exists(world.keys.task(run.task_id), world.keys.inputs(run.task_id))


# Several questions


async def test_only_the_last_answer_lets_the_task_work_again(world: World) -> None:  # T-40
    session = await begin_session(world)
    run = await world.start(session=session.id)
    questions = [await ask(world, run, number, f"{number}?") for number in range(3)]
    assert await follow(world, session, run.task_id).look() == [question.body for question in questions]
    for question, status in zip(questions[::-1], ["input_required", "input_required", "working"], strict=True):
        assert await world.inputs.answer(question.request_id, session, ANSWER)
        assert await status_of(world, run) == status
    assert [await read(world, run, question) for question in questions] == [ANSWER] * 3


async def test_each_answer_wakes_the_worker(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    questions = [await ask(world, run, number) for number in range(2)]
    await follow(world, session, run.task_id).look()
    async with world.listening(world.keys.signals("w1")) as heard:
        for question in questions:
            await world.inputs.answer(question.request_id, session, ANSWER)
            assert await heard() == run.task_id


async def test_the_task_asks_again_after_an_answer(world: World) -> None:
    session = await begin_session(world)
    run = await start_call(world, session)
    stream = follow(world, session, run.task_id, kind="call")
    for number in range(3):
        question = await ask(world, run, number)
        await say(world, run, b"{}")
        assert await stream.look() == [b"{}", question.body]
        await world.inputs.answer(question.request_id, session, ANSWER)
    assert await status_of(world, run) == "working"


async def test_answers_are_read_as_they_come(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    first, second = await ask(world, run, 1), await ask(world, run, 2)
    await hear(world, session).look()
    assert [await read(world, run, question) for question in (first, second)] == [None, None]
    await world.inputs.answer(second.request_id, session, ANSWER)
    assert [await read(world, run, question) for question in (first, second)] == [None, ANSWER]


# Races


async def test_of_many_answers_exactly_one_counts(world: World) -> None:
    session = await begin_session(world)
    for number in range(10):
        run = await world.start(session=session.id)
        question = await ask(world, run)
        await hear(world, session).look()
        answers = [b'{"result":{"number":%d}}' % each for each in range(5)]
        taken = await asyncio.gather(
            *(world.inputs.answer(question.request_id, session, each) for each in answers[:: 1 if number % 2 else -1])
        )
        assert sum(taken) == 1
        assert await read(world, run, question) in answers


@pytest.mark.parametrize("rival", ["cancel", "finish", "lose", "expire"])
async def test_an_answer_and_its_rivals(world: World, rival: str) -> None:
    session = await begin_session(world)
    for number in range(12):
        run = await world.start(session=session.id)
        question = await ask(world, run)
        await hear(world, session).look()
        calls = [world.inputs.answer(question.request_id, session, ANSWER), _rival(world, run, rival)]
        results = await asyncio.gather(*calls[:: 1 if number % 2 else -1])
        is_taken = results[0 if number % 2 else -1]
        expected = {"cancel": "cancelled", "finish": "completed", "lose": "working" if is_taken else "input_required"}
        if rival != "expire":
            assert await status_of(world, run) == expected[rival]
            assert (await read(world, run, question) == ANSWER) == is_taken


async def _rival(world: World, run: ClaimedRun, name: str) -> bool:
    if name == "cancel":
        await world.tasks.cancel(ADA, run.task_id, "")
    elif name == "finish":
        await finish(world, run)
    elif name == "lose":
        await world.lose_lease(run.task_id)
        await world.recover()
    else:
        await world.expire(run.task_id)
    return True
