"""cancel_request: a client no longer wants an answer."""

from collections.abc import Awaitable, Callable

import pytest

from receiver.session import Session
from receiver.store.record import ClaimedRun
from receiver.store.streams import StreamGivenUp
from tests.store.clients import Connection, begin_session, follow, new_session, start_call
from tests.store.world import ADA, World, finish


async def called(world: World, session: Session, request: bytes = b"1") -> tuple[ClaimedRun, Connection]:
    """A plain call that runs, and its stream."""
    run = await start_call(world, session, request)
    stream = follow(world, session, run.task_id, kind="call", request=request)
    await stream.look()
    return run, stream


async def waited_for(world: World, session: Session, request: bytes = b"1") -> tuple[ClaimedRun, Connection]:
    """A task that runs, and a stream that waits for its result."""
    run = await world.start(session=session.id)
    stream = follow(world, session, run.task_id, request=request)
    await stream.look()
    return run, stream


async def status_of(world: World, run: ClaimedRun) -> str:
    return (await world.record(run.task_id))["status"]


async def test_a_plain_call_is_stopped(world: World) -> None:  # L-07
    session = await begin_session(world)
    run, stream = await called(world, session)
    async with (
        world.listening(world.keys.signals("w1")) as told,
        world.listening(world.keys.events(run.task_id)) as heard,
    ):
        assert await world.sessions.cancel_request(session, b"1")
        assert await told() == run.task_id
        assert await heard() == "cancelled"
    assert await status_of(world, run) == "cancelled"
    with pytest.raises(StreamGivenUp):
        await stream.look()
    await stream.close()
    assert not await world.redis.exists(world.keys.requests(session.id))
    assert await finish(world, run) == -3


async def test_a_plain_call_is_stopped_before_its_stream_is_open(world: World) -> None:  # L-07
    session = await begin_session(world)
    run = await start_call(world, session, b"1")
    assert await world.sessions.cancel_request(session, b"1")
    assert await status_of(world, run) == "cancelled"
    with pytest.raises(StreamGivenUp):
        await follow(world, session, run.task_id, kind="call", request=b"1").look()
    assert not await world.redis.exists(world.keys.requests(session.id))


async def test_a_wait_for_a_task_ends_and_nothing_else(world: World) -> None:  # L-07, T-73
    session = await begin_session(world)
    run, stream = await waited_for(world, session)
    other = follow(world, session, run.task_id, request=b"2")
    await other.look()
    async with world.listening(world.keys.events(run.task_id)) as heard:
        assert await world.sessions.cancel_request(session, b"1")
        assert await heard() == "cancelled"
    with pytest.raises(StreamGivenUp):
        await stream.look()
    await stream.close()
    assert (await world.tasks.get(ADA, run.task_id)).status == "working"
    await other.look()
    await finish(world, run)
    await other.look()
    assert other.progress is not None
    assert other.progress.status == "completed"


async def expect_nothing(world: World, session: Session, request: bytes) -> None:
    before = await world.dump()
    assert not await world.sessions.cancel_request(session, request)
    assert await world.dump() == before


async def test_what_is_not_under_way_is_ignored(world: World) -> None:
    session = await begin_session(world)
    await called(world, session, b"1")
    for request in (b'"1"', b"2", b"0", b'""', b"x/y"):
        await expect_nothing(world, session, request)


async def test_a_request_of_another_session_is_not_touched(world: World) -> None:
    session = await begin_session(world)
    run, _ = await called(world, session)
    for other in (await begin_session(world), await begin_session(world, "bob"), new_session()):
        await expect_nothing(world, other, b"1")
    stolen = Session(session.id, "bob", session.revision, {})
    await expect_nothing(world, stolen, b"1")
    assert await status_of(world, run) == "working"


async def test_a_request_of_a_session_that_ended_is_not_under_way(world: World) -> None:
    session = await begin_session(world)
    run, _ = await called(world, session)
    await world.sessions.end(session)
    await expect_nothing(world, session, b"1")
    assert await status_of(world, run) == "working"


async def test_a_finished_call_is_not_under_way(world: World) -> None:
    session = await begin_session(world)
    run, stream = await called(world, session)
    await finish(world, run)
    await expect_nothing(world, session, b"1")
    await stream.look()
    await stream.close()
    assert not await world.redis.exists(world.keys.requests(session.id))


Lose = Callable[[World, Connection], Awaitable[object]]

LOSSES: dict[str, Lose] = {
    "closed": lambda world, stream: stream.close(),
    "its node died": lambda world, stream: world.redis.delete(world.keys.stream(stream.stream.id)),
}
every_loss = pytest.mark.parametrize("lose", LOSSES.values(), ids=LOSSES)


@every_loss
async def test_a_call_whose_stream_was_lost_can_be_cancelled(world: World, lose: Lose) -> None:
    session = await begin_session(world)
    run, stream = await called(world, session)
    await lose(world, stream)
    assert await world.sessions.cancel_request(session, b"1")
    assert await status_of(world, run) == "cancelled"
    with pytest.raises(StreamGivenUp):
        await stream.resumed().look()


async def test_a_call_whose_client_is_gone_leaves_no_request_behind(world: World) -> None:
    session = await begin_session(world)
    run, stream = await called(world, session)
    await stream.close()
    await finish(world, run)
    assert not await world.redis.exists(world.keys.requests(session.id))


async def test_a_wait_that_was_given_up_is_not_under_way(world: World) -> None:
    session = await begin_session(world)
    _, stream = await waited_for(world, session)
    await stream.close()
    await expect_nothing(world, session, b"1")


async def test_a_cancelled_wait_is_not_resumed(world: World) -> None:
    session = await begin_session(world)
    _, stream = await waited_for(world, session)
    await world.sessions.cancel_request(session, b"1")
    await stream.close()
    with pytest.raises(StreamGivenUp):
        await stream.resumed().look()


async def test_its_id_may_be_used_again(world: World) -> None:
    session = await begin_session(world)
    _, first = await waited_for(world, session)
    await world.sessions.cancel_request(session, b"1")
    run, second = await called(world, session, b"1")
    with pytest.raises(StreamGivenUp):
        await first.look()
    await first.close()
    assert await second.look() == []
    assert await world.sessions.cancel_request(session, b"1")
    assert await status_of(world, run) == "cancelled"


@pytest.mark.parametrize("begin", [called, waited_for])
async def test_sent_again_when_its_reply_was_lost(
    world: World, begin: Callable[[World, Session], Awaitable[tuple[ClaimedRun, Connection]]]
) -> None:
    session = await begin_session(world)
    run, stream = await begin(world, session)
    async with world.losing_replies() as lossy:
        await lossy.sessions.cancel_request(session, b"1")
    assert await status_of(world, run) == ("cancelled" if begin is called else "working")
    with pytest.raises(StreamGivenUp):
        await stream.look()


async def test_of_a_cancelled_call_and_its_finish_exactly_one_wins(world: World) -> None:
    session = await begin_session(world)
    run, stream = await called(world, session)
    await finish(world, run)
    assert not await world.sessions.cancel_request(session, b"1")
    await stream.look()
    assert stream.progress is not None
    assert stream.progress.status == "completed"
