"""Questions that a client answers by a task of its own: accepted, and polled at its pace."""

import asyncio
from typing import Any

import pytest

from receiver.protocol.client_task import ClientTask
from receiver.store.runs import Verdict
from tests.store.asked import SAID, SLOW, TASKS, THEIRS, begin, end, question_of
from tests.store.clients import (
    ANSWER,
    OTHER_ANSWER,
    begin_session,
    follow,
    hear,
    read_answer,
)
from tests.store.world import World, finish

# Accepted


async def test_an_accepted_question_stays_open_and_is_not_asked_again(world: World) -> None:  # T-40
    scene = await begin(world)
    async with world.listening(world.keys.signals("w1")) as heard:
        assert await scene.accept()
        assert await heard() == scene.run.task_id
    assert (await scene.state(), await scene.status()) == ("accepted", "input_required")
    await scene.stream.close()
    for stream in (follow(world, scene.session, scene.run.task_id), hear(world, scene.session)):
        assert await scene.messages(stream) == []


async def test_the_run_knows_the_task_and_how_long_it_lives(world: World) -> None:  # T-102
    scene = await begin(world)
    await scene.accept()
    standing = await world.inputs.look(scene.run.task_id, scene.question.name)
    assert (standing.client_task, standing.is_polled, standing.said) == (THEIRS.id, False, b"")
    assert standing.rest is not None
    assert 0 < standing.rest <= 60_000


async def test_a_task_without_end(world: World) -> None:
    scene = await begin(world)
    await scene.accept(SLOW)
    assert (await world.inputs.look(scene.run.task_id, scene.question.name)).rest is None


async def test_accepted_twice(world: World) -> None:
    scene = await begin(world)
    async with world.losing_replies() as lossy:
        assert await lossy.inputs.accept(scene.question.request_id, scene.session, THEIRS)
    before = await world.dump()
    assert await scene.accept()
    assert await world.dump() == before


async def test_a_second_task_for_one_question_is_cancelled_once(world: World) -> None:  # T-73
    scene = await begin(world)
    await scene.accept()
    other = ClientTask("theirs-2", "working", None, 0)
    for _ in range(2):
        assert not await scene.accept(other)
    (cancel,) = await scene.messages()
    assert (cancel["method"], cancel["params"]) == ("tasks/cancel", {"taskId": "theirs-2"})
    assert (await world.inputs.look(scene.run.task_id, scene.question.name)).client_task == THEIRS.id


async def test_only_who_was_asked_accepts(world: World) -> None:  # E-05
    scene = await begin(world)
    other = await begin_session(world, capabilities=TASKS)
    before = await world.dump()
    assert not await world.inputs.accept(scene.question.request_id, other, THEIRS)
    assert await world.dump() == before


async def test_an_accepted_question_takes_no_plain_answer(world: World) -> None:
    scene = await begin(world)
    await scene.accept()
    assert not await world.inputs.answer(scene.question.request_id, scene.session, ANSWER)
    assert await scene.state() == "accepted"


async def test_a_plain_answer_ends_it_at_once(world: World) -> None:  # T-26
    scene = await begin(world)
    assert await world.inputs.answer(scene.question.request_id, scene.session, ANSWER)
    assert (await scene.state(), await scene.status()) == ("answered", "working")
    assert not await scene.accept()
    assert [message["method"] for message in await scene.messages()] == ["tasks/cancel"]


# Polled


async def test_one_poll_at_a_time(world: World) -> None:
    scene = await begin(world)
    await scene.accept()
    assert await scene.poll() is None
    request = await scene.polled()
    assert request == {"jsonrpc": "2.0", "id": request["id"], "method": "tasks/get", "params": {"taskId": THEIRS.id}}
    assert await scene.poll() is None
    assert await scene.messages() == []
    assert await scene.status() == "input_required"


async def test_polls_leave_nothing_behind(world: World) -> None:
    scene = await begin(world)
    await scene.accept()
    fields, ids = set(), set()
    for _ in range(4):
        await scene.poll()
        ids.add((request := await scene.polled())["id"])
        assert await world.inputs.answer_poll(request["id"], scene.session, SAID, 0)
        fields.add(await world.redis.hlen(world.keys.inputs(scene.run.task_id)))
        assert await scene.status() == "input_required"
    assert (len(ids), len(fields)) == (4, 1)
    lasting = [id for id in ids if await world.redis.pttl(world.keys.ask(id)) > 60_000]
    assert lasting == [request["id"]]


async def test_a_poll_too_early_is_not_sent(world: World) -> None:  # T-18
    scene = await begin(world)
    await scene.accept(SLOW)
    early = await scene.poll()
    assert early is not None
    assert 3_500_000 < early <= 3_600_000
    assert await scene.messages() == []
    assert await scene.poll(result=True) is None
    assert (await scene.polled())["method"] == "tasks/result"


@pytest.mark.parametrize("interval", [3_600_000, None])
async def test_the_interval_counts_from_the_last_answer(world: World, interval: int | None) -> None:  # T-18, T-47
    scene = await begin(world)
    await scene.accept(THEIRS if interval else SLOW)
    await world.redis.hset(world.keys.inputs(scene.run.task_id), f"{scene.question.name}:due", 0)
    await scene.poll()
    assert await world.inputs.answer_poll((await scene.polled())["id"], scene.session, SAID, interval)
    assert (await scene.poll() or 0) > 3_500_000
    standing = await world.inputs.look(scene.run.task_id, scene.question.name)
    assert (standing.said, standing.is_polled) == (SAID, False)


async def test_a_poll_goes_to_the_session_that_has_the_task(world: World) -> None:
    scene = await begin(world)
    await scene.accept()
    other = await begin_session(world, capabilities=TASKS)
    theirs, their_own = follow(world, other, scene.run.task_id), hear(world, other)
    own = hear(world, scene.session)
    await scene.stream.close()
    await theirs.look()
    await scene.poll()
    for stream in (theirs, their_own):
        assert await scene.messages(stream) == []
    assert (await scene.polled(own))["method"] == "tasks/get"  # although the task has a stream: it is another's


async def test_a_poll_whose_stream_died_goes_out_again(world: World) -> None:
    scene = await begin(world)
    await scene.accept()
    await scene.poll()
    request = await scene.polled()
    await scene.stream.close()
    assert await scene.polled(follow(world, scene.session, scene.run.task_id)) == request


async def test_another_session_that_has_the_task_is_polled(world: World) -> None:  # T-94
    """As one of a client whose first session ended; nothing of it is kept in the end."""
    scene = await begin(world)
    newer = await begin_session(world, capabilities=TASKS)
    await scene.stream.close()
    stream = follow(world, newer, scene.run.task_id)
    assert (await scene.polled(stream))["id"] == scene.question.request_id
    assert await world.inputs.accept(scene.question.request_id, newer, THEIRS)
    await scene.poll()
    assert await scene.messages(follow(world, scene.session, scene.run.task_id)) == []
    own = world.keys.session_events(newer.id)
    async with world.listening(own) as heard:
        await stream.close()
        assert await heard() == "message"
    poll = await scene.polled(later := follow(world, newer, scene.run.task_id))
    assert await world.inputs.answer_poll(poll["id"], newer, SAID, 0)
    await finish(world, scene.run)
    assert [message["method"] for message in await scene.messages(later)] == ["tasks/cancel"]
    for session in (newer, scene.session):
        await follow(world, session, scene.run.task_id).look()
        assert await world.members(world.keys.talking(session.id)) == []


async def test_streams_are_called_for_a_poll(world: World) -> None:
    scene = await begin(world)
    await scene.accept()
    events, own = world.keys.events(scene.run.task_id), world.keys.session_events(scene.session.id)
    async with world.listening(events) as heard, world.listening(own) as heard_too:
        await scene.poll()
        assert (await heard(), await heard_too()) == ("message", "message")


async def test_a_poll_is_answered_once_and_wakes_the_worker(world: World) -> None:
    scene = await begin(world)
    await scene.accept()
    await scene.poll()
    request = await scene.polled()
    async with world.listening(world.keys.signals("w1")) as heard, world.losing_replies() as lossy:
        assert await lossy.inputs.answer_poll(request["id"], scene.session, SAID, 0)
        assert await heard() == scene.run.task_id
    assert not await world.inputs.answer_poll(request["id"], scene.session, b"{}", 0)
    assert (await world.inputs.look(scene.run.task_id, scene.question.name)).said == SAID
    await scene.poll()
    before = await world.dump()
    assert not await world.inputs.answer_poll(request["id"], scene.session, b"{}", 0)
    assert await world.dump() == before


async def test_a_poll_sent_twice(world: World) -> None:
    scene = await begin(world)
    await scene.accept()
    async with world.losing_replies() as lossy:
        task_id, run = scene.run.task_id, scene.run.run
        assert await lossy.inputs.poll(task_id, run, scene.question.name, "tasks/get", THEIRS.id) is None
    assert (await scene.polled())["method"] == "tasks/get"


async def test_the_result_of_the_task_is_the_answer(world: World) -> None:  # T-40
    scene = await begin(world)
    await scene.accept()
    await scene.poll(result=True)
    request = await scene.polled()
    found = await world.inputs.find(request["id"], scene.session)
    assert found is not None
    assert (found.request, found.question["id"]) == (request, scene.question.request_id)
    async with world.listening(world.keys.signals("w1")) as heard, world.losing_replies() as lossy:
        assert await lossy.inputs.answer(request["id"], scene.session, ANSWER)
        assert await heard() == scene.run.task_id
    assert not await world.inputs.answer(request["id"], scene.session, OTHER_ANSWER)
    assert await read_answer(world, scene.run.task_id, scene.question.name) == ANSWER
    assert (await scene.state(), await scene.status()) == ("answered", "working")
    assert await scene.poll() is None
    assert await scene.messages() == []


async def test_a_later_run_goes_on_with_the_same_task(world: World) -> None:  # T-102
    scene = await begin(world)
    await scene.accept()
    await scene.poll()
    await world.lose_lease(scene.run.task_id)
    later = await world.claim_one("w2")
    before = await world.dump()
    await scene.poll()
    assert await scene.withdraw() is Verdict.SUPERSEDED
    assert await world.dump() == before  # the fence
    again = question_of()
    assert await world.inputs.ask(later.task_id, later.run, again) is Verdict.DONE
    standing = await world.inputs.look(later.task_id, again.name)
    assert (standing.state, standing.client_task, standing.is_polled) == ("accepted", THEIRS.id, True)
    assert await scene.status() == "input_required"
    assert (await scene.polled())["method"] == "tasks/get"


# Races


@pytest.mark.parametrize("rival", ["answer", "withdraw", "finish", "cancel"])
async def test_an_acceptance_and_its_rivals(world: World, rival: str) -> None:
    """Whoever comes first, the client's task is either pursued or cancelled."""
    for number in range(8):
        scene = await begin(world)
        if rival == "answer":
            racing: Any = world.inputs.answer(scene.question.request_id, scene.session, ANSWER)
        else:
            racing = scene.withdraw() if rival == "withdraw" else end(scene, rival)
        calls = [scene.accept(), racing]
        results = await asyncio.gather(*calls[:: 1 if number % 2 else -1])
        accepted = results[0 if number % 2 else -1]
        told = [message["method"] for message in await scene.messages() if "id" in message]
        if rival == "answer":
            assert await scene.state() == ("accepted" if accepted else "answered")
            assert told == ([] if accepted else ["tasks/cancel"])
        else:
            assert await scene.state() == "closed"
            assert told == ["tasks/cancel"]
