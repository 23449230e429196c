"""Resources that clients subscribed to: each update is told once, whatever node has the stream."""

import asyncio
from collections import Counter
from collections.abc import Callable

import pytest

from tests.wire.client import Client, Message, Stream

UPDATED = "notifications/resources/updated"
LAST = "test://watched/last"  # behind it, nothing is to come any more


def watched(name: object) -> str:
    return f"test://watched/{name}"


def updated(uri: str) -> Message:
    return {"jsonrpc": "2.0", "method": UPDATED, "params": {"uri": uri}}


async def subscribe(client: Client, *uris: str, node: int = 0) -> None:
    for uri in uris:
        assert await client.result("resources/subscribe", {"uri": uri}, node) == {}


async def unsubscribe(client: Client, uri: str, node: int = 0) -> None:
    assert await client.result("resources/unsubscribe", {"uri": uri}, node) == {}


async def update(client: Client, *uris: str, node: int = 0) -> None:
    """Has a tool say that resources changed, one after the other."""
    await client.call("talk", {"script": [["resource_updated", uri] for uri in uris]}, node)


async def test_an_update_is_told_on_another_node(alice: Client) -> None:
    """H-27: subscribed here, updated by a worker, told there, once; also where one subscribed twice."""
    await alice.open()
    await subscribe(alice, watched(1), LAST)
    await subscribe(alice, watched(1), node=1)
    async with alice.listen(node=1) as stream:
        await update(alice, watched(1), LAST)
        assert await stream.take(2) == [updated(watched(1)), updated(LAST)]
        await update(alice, watched(1), node=1)
        assert await stream.message() == updated(watched(1))


async def test_who_unsubscribed_is_not_told(alice: Client) -> None:
    """Nor is who never subscribed to exactly this URI; on whatever node that was said."""
    await alice.open()
    await subscribe(alice, watched(1), LAST)
    async with alice.listen(node=0) as stream:
        for node in (1, 0):
            await unsubscribe(alice, watched(1), node)
        await update(alice, watched(1), watched("last/part"), watched("las"), LAST)
        assert await stream.message() == updated(LAST)


async def test_a_thread_and_a_task_tell_it_too(alice: Client) -> None:
    """What belongs to no task names none."""
    await alice.open()
    await subscribe(alice, watched(1), watched(2))
    async with alice.listen(node=1) as stream:
        await alice.call("touch_in_thread", {"uri": watched(1)})
        assert await stream.message() == updated(watched(1))
        await alice.script(["resource_updated", watched(2)])
        assert await stream.message() == updated(watched(2))


async def test_each_session_is_told_of_its_own(alice: Client, bob: Client, connect: Callable[[str], Client]) -> None:
    """Also those of other principals, and each session of one."""
    again = connect("alice-token")
    wanted = {alice: [watched(1), LAST], bob: [watched(1), watched(2), LAST], again: [LAST]}
    for node, (client, uris) in enumerate(wanted.items()):
        await client.open()
        await subscribe(client, *uris, node=node % 2)
    async with alice.listen(node=0) as a, bob.listen(node=1) as b, again.listen(node=1) as c:
        await update(alice, watched(1), watched(2), LAST, node=1)
        for stream, uris in zip((a, b, c), wanted.values(), strict=True):
            assert await stream.take(len(uris)) == [updated(uri) for uri in uris]


async def test_several_streams_share_the_updates(alice: Client) -> None:
    """H-27, X-8: on two nodes, each update on one of them."""
    await alice.open()
    uris = [watched(number) for number in range(40)]
    await subscribe(alice, *uris)
    told: asyncio.Queue[Message] = asyncio.Queue()

    async def read(stream: Stream) -> None:
        async for event in stream.events():
            told.put_nowait(event.message)

    async with alice.listen(0) as a, alice.listen(1) as b, alice.listen(0) as c, alice.listen(1) as d:
        readers = [asyncio.create_task(read(stream)) for stream in (a, b, c, d)]
        await asyncio.gather(*(update(alice, *uris[start : start + 10]) for start in range(0, 40, 10)))
        found = [await told.get() for _ in uris]
        await alice.send({}, verb="DELETE")
        await asyncio.gather(*readers)
    assert told.empty()
    assert Counter(message["params"]["uri"] for message in found) == Counter(uris)


async def test_a_lost_stream_is_gone_on_with(alice: Client) -> None:
    """H-21, H-23: on another node, with what was said meanwhile, and again with what was lost."""
    await alice.open()
    uris = [watched(number) for number in range(3)]
    await subscribe(alice, *uris)
    async with alice.listen(node=0) as stream:
        start = stream.last
        await update(alice, uris[0])
        assert await stream.message() == updated(uris[0])
        seen = stream.last
        await stream.drop()
    assert start != seen
    await update(alice, uris[1])
    async with alice.listen(node=1, last=seen) as stream:
        assert await stream.message() == updated(uris[1])
    async with alice.listen(node=0, last=start) as stream:
        assert await stream.take(2) == [updated(uri) for uri in uris[:2]]
        await update(alice, uris[2])
        assert await stream.message() == updated(uris[2])


async def test_updates_that_nobody_hears_are_not_kept(alice: Client) -> None:
    """Who listens later reads the resource anyway."""
    await alice.open()
    await subscribe(alice, watched(1), LAST)
    await update(alice, watched(1))
    async with alice.listen() as stream:
        await update(alice, LAST)
        assert await stream.message() == updated(LAST)


@pytest.mark.parametrize("method", ["resources/subscribe", "resources/unsubscribe"])
@pytest.mark.parametrize("params", [{}, {"uri": None}, {"uri": 1}, {"uri": ""}, {"uri": [LAST]}, {"uri": "a" * 2049}])
async def test_what_is_no_uri(alice: Client, method: str, params: object) -> None:
    await alice.open()
    assert (await alice.error(method, params))["code"] == -32602


async def test_to_unsubscribe_from_anything_is_no_error(alice: Client) -> None:
    await alice.open()
    for uri in ("test://unknown", watched(1)):
        await unsubscribe(alice, uri)
