"""A node that stops leaves nothing open in the store."""

from receiver.node import Node
from receiver.receiver import Receiver
from receiver.settings import Settings
from tests.store.backends import on_real_servers
from tests.store.clients import begin_session
from tests.store.feeds import begin_to_follow, begin_to_hear, is_closed, new_stream
from tests.store.world import World


@on_real_servers
async def test_its_streams_are_closed_before_its_connection(world: World) -> None:
    assert world.backend.server is not None
    session = await begin_session(world)
    run = await world.start(session=session.id)
    node = Node(Receiver("test"), Settings(redis_url=world.backend.server.url))
    feeds = (await node.open()).services.feeds
    streams = [new_stream(session), new_stream(session, "own", b"")]
    for reader in (await begin_to_follow(feeds, run, streams[0]), await begin_to_hear(feeds, streams[1])):
        await reader.leave()
    await node.close()
    assert [await is_closed(world, stream) for stream in streams] == [True, True]
