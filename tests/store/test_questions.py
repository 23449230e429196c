"""Questions of tasks: asked of one client at a time, and of the next when that one is gone."""

import asyncio

import pytest

from receiver.session import Session
from receiver.store.runs import Verdict
from tests.store.clients import ANSWER, Connection, ask, begin_session, follow, hear, new_question, start_call
from tests.store.world import ADA, LABEL, TTL, World, finish

HOUR = 3_600_000


both_kinds = pytest.mark.parametrize("kind", ["task", "session"])


def open_stream(world: World, kind: str, session: Session, task_id: str) -> Connection:
    return hear(world, session) if kind == "session" else follow(world, session, task_id)


async def lose(world: World, stream: Connection, how: str) -> None:
    """The stream is gone, and its client will not come back."""
    if how == "closed":
        await stream.close()
    else:
        await world.redis.delete(world.keys.stream(stream.stream.id))
    await world.redis.delete(world.keys.listeners(stream.task_id))


# Ask


async def test_a_task_that_asks_is_in_input_required(world: World) -> None:  # T-37
    session = await begin_session(world)
    run = await world.start(session=session.id)
    await world.redis.hset(world.keys.task(run.task_id), "updated_at", 1)
    await ask(world, run)
    task = await world.tasks.get(ADA, run.task_id)
    assert (task.status, task.updated_at >= run.claimed_at) == ("input_required", True)
    assert await world.members(world.keys.status("input_required", LABEL)) == [run.task_id]
    assert await world.members(world.keys.status("working", LABEL)) == []


async def test_streams_are_called(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    events, session_events = world.keys.events(run.task_id), world.keys.session_events(session.id)
    async with world.listening(events) as heard, world.listening(session_events) as heard_too:
        await ask(world, run)
        assert (await heard(), await heard_too()) == ("message", "message")


@both_kinds
async def test_one_stream_is_given_the_question_once(world: World, kind: str) -> None:  # H-27
    session = await begin_session(world)
    run = await world.start(session=session.id)
    streams = [open_stream(world, kind, session, run.task_id) for _ in range(3)]
    for stream in streams:
        await stream.look()
    question = await ask(world, run)
    given = [await asyncio.gather(*(stream.look() for stream in streams)) for _ in range(2)]
    assert [body for looks in given for found in looks for body in found].count(question.body) == 1


async def test_a_stream_that_comes_later_is_given_it(world: World) -> None:  # T-39
    session = await begin_session(world)
    run = await world.start(session=session.id)
    question = await ask(world, run)
    assert await follow(world, session, run.task_id).look() == [question.body]


async def test_a_stream_of_the_task_comes_before_one_of_the_session(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    own, stream = hear(world, session), follow(world, session, run.task_id)
    await own.look()
    await stream.look()
    question = await ask(world, run)
    assert await own.look() == []
    assert (await stream.look())[-1] == question.body
    assert await own.look() == []


async def test_questions_of_a_plain_call(world: World) -> None:
    session = await begin_session(world)
    run = await start_call(world, session)
    stream = follow(world, session, run.task_id, kind="call")
    await stream.look()
    question = await ask(world, run)
    assert await stream.look() == [question.body]
    assert await world.inputs.answer(question.request_id, session, ANSWER)
    assert (await world.record(run.task_id))["status"] == "working"


async def test_only_who_can_be_asked_is(world: World) -> None:  # L-02, E-01
    mute, able = await begin_session(world, capabilities={}), await begin_session(world)
    run = await world.start(session=mute.id)
    first = await ask(world, run, 1, "a form", "elicitation.form")
    second = await ask(world, run, 2, "a form with pictures", "elicitation.form", "elicitation.url")
    assert first.body not in await hear(world, mute).look()
    assert first.body not in await follow(world, mute, run.task_id).look()
    given = await follow(world, able, run.task_id).look()
    assert first.body in given
    assert second.body not in given


async def test_what_was_asked_goes_when_the_task_does_but_an_hour_for_late_answers(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    question = await ask(world, run)
    await follow(world, session, run.task_id).look()
    end = await world.redis.pexpiretime(world.keys.task(run.task_id))
    assert await world.redis.pexpiretime(world.keys.inputs(run.task_id)) == end
    assert await world.redis.pexpiretime(world.keys.ask(question.request_id)) == end + HOUR
    assert TTL - 10_000 < await world.redis.pttl(world.keys.inputs(run.task_id)) <= TTL


async def test_asked_again_when_its_reply_was_lost(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    question = new_question()
    async with world.losing_replies() as lossy:
        assert await lossy.inputs.ask(run.task_id, run.run, question) is Verdict.DONE
    stream = follow(world, session, run.task_id)
    assert await stream.look() == [question.body]
    assert await stream.look() == []


@both_kinds
async def test_a_look_whose_reply_was_lost_gives_the_question_again(world: World, kind: str) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    question = await ask(world, run)
    stream = open_stream(world, kind, session, run.task_id)
    async with world.losing_replies() as lossy:
        assert await stream.look_over(lossy) == [question.body]
    assert await stream.look() == []


# The fence


@pytest.mark.parametrize(
    ("end", "verdict"),
    [
        ("expired", Verdict.GONE),
        ("superseded", Verdict.SUPERSEDED),
        ("cancelled", Verdict.TERMINAL),
        ("handed back", Verdict.HANDED_BACK),
    ],
)
async def test_a_run_that_is_over_asks_nothing(world: World, end: str, verdict: Verdict) -> None:
    run = await world.start(session=(await begin_session(world)).id)
    if end == "expired":
        await world.forget(run.task_id)
    elif end == "superseded":
        await world.lose_lease(run.task_id)
        await world.claim_one("w2")
    elif end == "cancelled":
        await world.tasks.cancel(ADA, run.task_id, "")
    else:
        await world.runs.requeue(run.task_id, run.run, "handed_back")
    before = await world.dump()
    assert await world.inputs.ask(run.task_id, run.run, new_question()) is verdict
    assert await world.dump() == before


# Streams that end


@pytest.mark.parametrize("how", ["closed", "its node died"])
@both_kinds
async def test_a_question_of_a_stream_that_died_is_given_to_the_next(world: World, how: str, kind: str) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    stream = follow(world, session, run.task_id)
    question = await ask(world, run)
    assert await stream.look() == [question.body]
    await lose(world, stream, how)
    following = open_stream(world, kind, session, run.task_id)
    assert await following.look() == [question.body]
    assert await following.look() == []


@both_kinds
@pytest.mark.parametrize("how", ["closed", "its node died", "unnoticed"])
async def test_a_client_that_comes_back_is_asked_again(world: World, how: str, kind: str) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    question = await ask(world, run)
    stream = open_stream(world, kind, session, run.task_id)
    assert await stream.look() == [question.body]
    if how != "unnoticed":
        await lose(world, stream, how)
    again = stream.resumed()
    assert await again.look() == [question.body]
    assert await again.look() == []


async def test_who_comes_back_is_not_asked_what_another_stream_was(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    question = await ask(world, run)
    own = hear(world, session)
    assert await own.look() == [question.body]
    await own.close()
    assert await follow(world, session, run.task_id).look() == [question.body]
    assert await own.resumed("").look() == []


async def test_streams_are_called_when_one_that_was_asked_ends(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    await ask(world, run)
    stream = follow(world, session, run.task_id)
    await stream.look()
    events, session_events = world.keys.events(run.task_id), world.keys.session_events(session.id)
    async with world.listening(events) as heard, world.listening(session_events) as heard_too:
        await stream.close()
        assert (await heard(), await heard_too()) == ("message", "message")


async def test_a_wait_that_was_cancelled_frees_its_question(world: World) -> None:  # L-07
    session = await begin_session(world)
    run = await world.start(session=session.id)
    question = await ask(world, run)
    stream = follow(world, session, run.task_id, request=b"1")
    assert await stream.look() == [question.body]
    await world.sessions.cancel_request(session, b"1")
    await stream.close()
    assert await follow(world, session, run.task_id).look() == [question.body]


@pytest.mark.parametrize("end", ["finish", "cancel", "answer"])
async def test_a_question_that_is_over_is_given_to_nobody(world: World, end: str) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    question = await ask(world, run)
    stream = follow(world, session, run.task_id)
    await stream.look()
    await stream.close()
    await world.redis.delete(world.keys.listeners(run.task_id))
    if end == "finish":
        await finish(world, run)
    elif end == "cancel":
        await world.tasks.cancel(ADA, run.task_id, "")
    else:
        await world.inputs.answer(question.request_id, session, ANSWER)
    for later in (follow(world, session, run.task_id), stream.resumed(), hear(world, session)):
        assert question.body not in await later.look()
    assert await world.members(world.keys.talking(session.id)) == []
