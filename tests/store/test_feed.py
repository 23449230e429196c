"""Feeds: all that a stream is to be given, and at last the end of its task, whatever happens meanwhile."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from functools import partial

import pytest

from receiver.feed import Feeds
from receiver.hub import Hub
from receiver.protocol.errors import InternalError, SessionEnded, TaskExpired
from receiver.store.streams import StreamGivenUp
from tests.store.backends import on_real_servers
from tests.store.clients import ANSWER, ask, begin_session, say, start_call
from tests.store.feeds import (
    Node,
    Reader,
    begin_to_follow,
    begin_to_hear,
    is_carried,
    is_closed,
    new_stream,
    running_node,
)
from tests.store.hubs import make_patient
from tests.store.world import ADA, DONE, World, finish, until

pytestmark = [on_real_servers, pytest.mark.timeout(20)]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    make_patient(monkeypatch)


@pytest.fixture
async def node(world: World) -> AsyncIterator[Node]:
    async with running_node(world) as node:
        yield node


@pytest.fixture
async def other_node(world: World) -> AsyncIterator[Node]:
    async with running_node(world) as node:
        yield node


@pytest.fixture
def feeds(node: Node) -> Feeds:
    return node.feeds


@pytest.fixture
def hub(node: Node) -> Hub:
    return node.hub


# The end of a task


async def test_a_finished_task_is_not_waited_for(world: World, feeds: Feeds) -> None:  # T-50
    run = await world.start()
    await finish(world, run)
    reader = Reader(feeds.follow_task(new_stream(await begin_session(world)), run.task_id, "task"))
    progress = await reader.task
    assert (progress.status, progress.payload) == ("completed", DONE.payload)


async def test_the_end_is_heard(world: World, hub: Hub, feeds: Feeds) -> None:  # T-51, X-12
    session = await begin_session(world)
    run = await world.start(session=session.id)
    stream = new_stream(session)
    reader = await begin_to_follow(feeds, run, stream)
    await finish(world, run)
    assert (await reader.task).payload == DONE.payload
    assert hub.watching == 0
    await until(lambda: is_closed(world, stream))


async def test_a_change_that_is_not_the_end_is_not_enough(world: World, feeds: Feeds) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    reader = await begin_to_follow(feeds, run, new_stream(session))
    await world.runs.report(run.task_id, run.run, {"status_message": "half"})
    (status,) = await reader.until_given(1)
    assert b'"half"' in status
    assert not reader.task.done()
    await world.tasks.cancel(ADA, run.task_id, "enough")
    assert (await reader.task).status == "cancelled"


async def test_many_wait_for_one_task_on_two_nodes(world: World, feeds: Feeds, other_node: Node) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    readers = [
        await begin_to_follow(node, run, new_stream(session, f"{number}-{place}", b"%d" % number))
        for number in range(5)
        for place, node in enumerate((feeds, other_node.feeds))
    ]
    await finish(world, run)
    assert {(await reader.task).payload for reader in readers} == {DONE.payload}
    assert len([body for reader in readers for body in reader.bodies]) == 1  # the status, on one stream


async def test_a_plain_call(world: World, feeds: Feeds) -> None:
    session = await begin_session(world)
    run = await start_call(world, session)
    await say(world, run, b"{1}")
    reader = await begin_to_follow(feeds, run, new_stream(session))
    await say(world, run, b"{2}")
    await finish(world, run)
    assert (await reader.task).payload == DONE.payload
    assert reader.bodies == [b"{1}", b"{2}"]


async def test_the_ttl_ends_the_wait(world: World, hub: Hub, feeds: Feeds) -> None:
    session = await begin_session(world)
    task_id = await world.create(session=session.id, ttl=60)
    stream = new_stream(session)
    with pytest.raises(TaskExpired):
        await Reader(feeds.follow_task(stream, task_id, "task")).task
    assert hub.watching == 0
    await until(lambda: is_closed(world, stream))


async def test_a_plain_call_that_takes_too_long_failed(world: World, feeds: Feeds) -> None:
    session = await begin_session(world)
    call = await world.create(kind="call", queue="plain", session=session.id, ttl=60)
    with pytest.raises(InternalError, match="not finished in time"):
        await Reader(feeds.follow_task(new_stream(session), call, "call")).task


async def test_a_task_that_is_swept_has_expired(world: World, feeds: Feeds) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    reader = await begin_to_follow(feeds, run, new_stream(session))
    await world.expire(run.task_id)
    await world.runs.sweep()
    with pytest.raises(TaskExpired):
        await reader.task


async def test_a_task_that_is_not_there_has_expired(world: World, feeds: Feeds) -> None:
    session = await begin_session(world)
    with pytest.raises(TaskExpired):
        await Reader(feeds.follow_task(new_stream(session), await world.create("bob"), "task")).task


# Messages


async def test_all_that_is_said_comes_before_the_end(world: World, feeds: Feeds, other_node: Node) -> None:  # T-61
    session = await begin_session(world)
    run = await start_call(world, session)
    readers = [
        await begin_to_follow(node, run, new_stream(session, f"s{number}", b"%d" % number))
        for number, node in enumerate((feeds, other_node.feeds))
    ]
    said = [b"{%d}" % number for number in range(120)]
    await asyncio.gather(*(say(world, run, *said[start : start + 4]) for start in range(0, 120, 4)))
    await finish(world, run)
    for reader in readers:
        assert (await reader.task).status == "completed"
    assert Counter(body for reader in readers for body in reader.bodies) == Counter(said)
    for reader in readers:
        assert len(reader.bodies) % 4 == 0
        assert reader.bodies[::4] == [body for body in reader.bodies if body in said[::4]]


async def test_a_session_hears_its_tasks(world: World, feeds: Feeds) -> None:
    session = await begin_session(world)
    stream = new_stream(session, request=b"")
    reader = await begin_to_hear(feeds, stream)
    for number in range(3):
        run = await world.start(session=session.id)
        await say(world, run, b"{%d}" % number)
        await finish(world, run)
        assert (await reader.until_given(2 * number + 2))[2 * number] == b"{%d}" % number
    await world.sessions.end(session)
    with pytest.raises(SessionEnded):
        await reader.task
    await until(lambda: is_closed(world, stream))


async def test_a_question_and_its_answer(world: World, feeds: Feeds) -> None:
    session = await begin_session(world)
    run = await start_call(world, session)
    reader = await begin_to_follow(feeds, run, new_stream(session))
    question = await ask(world, run)
    assert await reader.until_given(1) == [question.body]
    assert await world.inputs.answer(question.request_id, session, ANSWER)
    await finish(world, run)
    assert (await reader.task).status == "completed"
    assert reader.bodies == [question.body]


async def test_what_is_freed_by_one_stream_is_given_to_another(world: World, feeds: Feeds) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    own = await begin_to_hear(feeds, new_stream(session, "own", b""))
    first = await begin_to_follow(feeds, run, new_stream(session))
    question = await ask(world, run)
    assert question.body in await first.until_given(2)
    await first.leave()
    assert await own.until_given(1) == [question.body]
    await own.leave()


async def test_streams_of_two_tasks_keep_apart(world: World, feeds: Feeds) -> None:  # F10
    session = await begin_session(world)
    runs = [await world.start(session=session.id) for _ in range(2)]
    readers = [await begin_to_follow(feeds, run, new_stream(session, run.task_id)) for run in runs]
    for run, reader in zip(runs, readers, strict=True):
        await say(world, run, run.task_id.encode())
        assert await reader.until_given(1) == [run.task_id.encode()]
    for reader in readers:
        await reader.leave()
        assert len(reader.bodies) == 1


# Who leaves, and who comes back


async def test_who_leaves_closes_the_stream(world: World, hub: Hub, feeds: Feeds) -> None:  # F19
    session = await begin_session(world)
    run = await world.start(session=session.id)
    streams = [new_stream(session), new_stream(session, "own", b"")]
    readers = [await begin_to_follow(feeds, run, streams[0]), await begin_to_hear(feeds, streams[1])]
    assert hub.watching == 2
    for reader, stream in zip(readers, streams, strict=True):
        await reader.leave()
        assert reader.task.cancelled()
        await until(partial(is_closed, world, stream))
    assert hub.watching == 0


@pytest.mark.parametrize("steps", range(0, 60, 3))
async def test_whenever_who_leaves(world: World, hub: Hub, feeds: Feeds, steps: int) -> None:  # F19
    session = await begin_session(world)
    run = await world.start(session=session.id)
    stream = new_stream(session)
    async with hub.watch(run.task_id):
        reader = Reader(feeds.follow_task(stream, run.task_id, "task"))
        for _ in range(steps):
            await asyncio.sleep(0)
        await reader.leave()
        assert reader.task.cancelled()
        assert hub.watching == 1
    await feeds.drain()
    assert await is_closed(world, stream)


async def test_who_comes_back_is_given_the_rest(world: World, feeds: Feeds, other_node: Node) -> None:  # H-23
    session = await begin_session(world)
    run = await start_call(world, session)
    first = await begin_to_follow(feeds, run, new_stream(session))
    await say(world, run, b"{1}", b"{2}")
    await first.until_given(2)
    await first.leave()
    await say(world, run, b"{3}")
    second = await begin_to_follow(other_node.feeds, run, new_stream(session), first.position)
    await finish(world, run)
    assert (await second.task).status == "completed"
    assert second.bodies == [b"{3}"]


async def test_a_connection_that_was_replaced_ends(world: World, feeds: Feeds, other_node: Node) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    first = await begin_to_follow(feeds, run, new_stream(session))
    second = await begin_to_follow(other_node.feeds, run, new_stream(session))
    await say(world, run, b"{}")
    assert await second.until_given(1) == [b"{}"]
    with pytest.raises(StreamGivenUp):
        await first.task
    await finish(world, run)
    assert (await second.task).status == "completed"


@pytest.mark.parametrize("is_call", [True, False])
async def test_a_cancelled_request_ends_its_stream(world: World, feeds: Feeds, is_call: bool) -> None:  # L-07
    session = await begin_session(world)
    run = await (start_call(world, session) if is_call else world.start(session=session.id))
    reader = await begin_to_follow(feeds, run, new_stream(session))
    await world.sessions.cancel_request(session, b"1")
    with pytest.raises(StreamGivenUp):
        await reader.task


# The store


async def test_a_stream_is_renewed_without_any_news(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    streams = [new_stream(session), new_stream(session, "own", b"")]
    async with running_node(world, renew_seconds=0.01) as node:
        readers = [await begin_to_follow(node.feeds, run, streams[0]), await begin_to_hear(node.feeds, streams[1])]
        for stream in streams:
            await world.redis.delete(world.keys.stream(stream.id))
            await until(partial(is_carried, world, stream))
        for reader in readers:
            await reader.leave()
