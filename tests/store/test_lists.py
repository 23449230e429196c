"""Lists: a client is told, once, that the node of its stream has another list than the one that it was shown."""

import pytest

from receiver.protocol.messages import render_list_changed
from receiver.session import Session
from receiver.store.streams import StreamStore
from tests.store.clients import Connection, begin_session, hear
from tests.store.world import SESSION_IDLE, STREAM_LEASE, World, by

TOOLS, PROMPTS = render_list_changed("tools"), render_list_changed("prompts")


def node(world: World, **lists: str) -> World:
    """A node that has these lists, given by their digests."""
    other = World(world.backend, world.redis, world.blocking, world.client)
    other.streams = StreamStore(world.client, lease=STREAM_LEASE, session_idle=SESSION_IDLE, lists=lists)
    return other


async def show(world: World, session: Session, digest: str, kind: str = "tools") -> None:
    await world.sessions.show_list(by(session.owner, session.id), kind, digest)


async def moved(world: World, stream: Connection, **lists: str) -> list[bytes]:
    """What a stream is given that comes to, or looks again at, a node with these lists."""
    return await stream.look_over(node(world, **lists))


@pytest.fixture
async def session(world: World) -> Session:
    return await begin_session(world)


@pytest.fixture
def stream(world: World, session: Session) -> Connection:
    return hear(world, session)


async def test_nodes_with_the_same_list_tell_nothing(world: World, session: Session, stream: Connection) -> None:
    await show(world, session, "1")
    for _ in range(3):
        assert await moved(world, stream, tools="1") == []


async def test_a_node_with_another_list_tells_it_once(world: World, session: Session, stream: Connection) -> None:
    await show(world, session, "1")
    assert await moved(world, stream, tools="2") == [TOOLS]
    for _ in range(3):
        assert await moved(world, stream, tools="2") == []
    await show(world, session, "2")
    assert await moved(world, stream, tools="2") == []


async def test_a_list_that_was_never_shown_has_not_changed(world: World, stream: Connection) -> None:
    assert await moved(world, stream, tools="1", prompts="1") == []
    assert await moved(world, stream, tools="2", prompts="2") == []


async def test_each_list_is_told_of_by_itself(world: World, session: Session, stream: Connection) -> None:
    await show(world, session, "1")
    await show(world, session, "1", "prompts")
    assert await moved(world, stream, tools="1", resources="2", prompts="2") == [PROMPTS]
    assert await moved(world, stream, tools="2", resources="2", prompts="2") == [TOOLS]


async def test_who_is_shown_the_old_list_again_is_told_again(
    world: World, session: Session, stream: Connection
) -> None:
    await show(world, session, "1")
    assert await moved(world, stream, tools="2") == [TOOLS]
    await show(world, session, "1")
    assert await moved(world, stream, tools="2") == [TOOLS]
    assert await moved(world, stream, tools="2") == []


async def test_each_change_is_told(world: World, session: Session, stream: Connection) -> None:
    await show(world, session, "1")
    assert await moved(world, stream, tools="2") == [TOOLS]
    assert await moved(world, stream, tools="3") == [TOOLS]
    await show(world, session, "3")
    assert await moved(world, stream, tools="2") == [TOOLS]


async def test_a_stream_that_comes_and_goes_is_told_once(world: World, session: Session, stream: Connection) -> None:
    """Of a client that does not care."""
    await show(world, session, "1")
    found = [await moved(world, stream, tools=digest) for digest in "2121212"]
    assert found == [[TOOLS], [], [], [], [], [], []]


async def test_one_stream_of_two_tells_it(world: World, session: Session) -> None:  # H-27
    await show(world, session, "1")
    found = [await moved(world, hear(world, session), tools="2") for _ in range(2)]
    assert found == [[TOOLS], []]


async def test_another_session_was_shown_something_else(world: World, session: Session) -> None:
    other = await begin_session(world)
    await show(world, session, "1")
    await show(world, other, "2")
    assert await moved(world, hear(world, other), tools="2") == []
    assert await moved(world, hear(world, session), tools="2") == [TOOLS]


async def test_a_client_that_lost_it_is_given_it_again(world: World, session: Session, stream: Connection) -> None:
    """H-23: on whatever node."""
    await show(world, session, "1")
    assert await moved(world, stream, tools="1") == []
    start = stream.position
    assert await moved(world, stream, tools="2") == [TOOLS]
    assert stream.position > start
    assert await moved(world, stream.resumed(start), tools="1") == [TOOLS]
    assert await moved(world, stream.resumed(), tools="2") == []


async def test_a_look_whose_reply_was_lost_tells_the_same(world: World, session: Session, stream: Connection) -> None:
    await show(world, session, "1")
    async with world.losing_replies() as lossy:
        assert await moved(lossy, stream, tools="2") == [TOOLS]
    assert await moved(world, stream, tools="2") == []


async def test_shown_again_when_the_reply_was_lost(world: World, session: Session, stream: Connection) -> None:
    async with world.losing_replies() as lossy:
        await show(lossy, session, "1")
    assert await moved(world, stream, tools="2") == [TOOLS]


async def test_it_ends_with_its_session(world: World, session: Session) -> None:
    await show(world, session, "1")
    await world.sessions.end(session)
    assert await world.redis.hkeys(world.keys.session(session.id)) == [b"ended"]
