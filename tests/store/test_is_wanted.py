"""is_wanted: whether a client may go on with a stream that it lost."""

import pytest

from receiver.store.record import Kind
from receiver.store.streams import StreamGivenUp
from tests.store.clients import Connection, begin_session, follow, start_call
from tests.store.world import World

both_kinds = pytest.mark.parametrize("kind", ["task", "call"])


async def opened(world: World, kind: Kind) -> tuple[Connection, str]:
    """The stream of a request with the id 1, and the id of its task."""
    session = await begin_session(world)
    run = await (start_call(world, session, b"1") if kind == "call" else world.start(session=session.id))
    stream = follow(world, session, run.task_id, kind=kind, request=b"1")
    await stream.look()
    return stream, run.task_id


@both_kinds
async def test_a_stream_that_was_lost_may_be_gone_on_with(world: World, kind: Kind) -> None:
    stream, task_id = await opened(world, kind)
    assert await world.streams.is_wanted(stream.stream.id, task_id)
    await stream.close()
    assert await world.streams.is_wanted(stream.stream.id, task_id)


@both_kinds
async def test_one_that_was_cancelled_may_not(world: World, kind: Kind) -> None:  # L-07
    stream, task_id = await opened(world, kind)
    await world.sessions.cancel_request(stream.stream.session, b"1")
    assert not await world.streams.is_wanted(stream.stream.id, task_id)
    await stream.close()
    assert not await world.streams.is_wanted(stream.stream.id, task_id)
    with pytest.raises(StreamGivenUp):
        await stream.resumed().look()
