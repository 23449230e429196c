"""Lists that change with a release: clients are told, whatever nodes of which release they come to."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.processes import Api, Valkey, Worker
from tests.wire.client import Client, Message
from tests.wire.conftest import APP, TOKENS, Site
from tests.wire.test_subscriptions import LAST, subscribe, update, updated

REVISED = "tests.apps.revised:app"
OLD, NEW = 0, 1
CHANGED: Message = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


@pytest.fixture(scope="module")
def rollout(valkey: Valkey) -> Iterator[Site]:
    """A node of the old release and one of the new; streams are renewed every 2 seconds."""
    settings: dict[str, Any] = {"auth_tokens": TOKENS, "namespace": "rollout", "session_idle_seconds": 6}
    with (
        Api(APP, valkey.url, **settings) as old,
        Api(REVISED, valkey.url, **settings) as new,
        Worker(APP, valkey.url, **settings) as worker,
    ):
        yield Site([old, new], [worker], "rollout")


@pytest.fixture
async def client(http: httpx2.AsyncClient, rollout: Site) -> Client:
    client = Client(http, rollout.urls, "alice-token")
    await client.open()
    await subscribe(client, LAST)
    return client


async def list_tools(client: Client, node: int) -> set[str]:
    return {tool["name"] for tool in (await client.result("tools/list", node=node))["tools"]}


async def test_the_releases_differ(client: Client) -> None:
    assert await list_tools(client, NEW) - await list_tools(client, OLD) == {"added"}


@pytest.mark.parametrize(("before", "after"), [(OLD, NEW), (NEW, OLD)])
async def test_a_stream_that_comes_to_another_release_is_told_once(client: Client, before: int, after: int) -> None:
    """H-27: forwards and back; the node that it left says nothing, nor does one that it was told by."""
    await list_tools(client, before)
    async with client.listen(before) as stream:
        await update(client, LAST)
        assert await stream.message() == updated(LAST)
        last = stream.last
    async with client.listen(after, last) as stream:
        assert await stream.message() == CHANGED
        await update(client, LAST)
        assert await stream.message() == updated(LAST)
        last = stream.last
    async with client.listen(after) as other:
        await update(client, LAST)
        assert await other.message() == updated(LAST)
    await list_tools(client, after)
    async with client.listen(after, last) as stream:
        await update(client, LAST)
        assert await stream.message() == updated(LAST)


async def test_who_lists_at_an_old_node_again_is_told_again(client: Client) -> None:
    """While its stream stays where it is: told at the next renewal, without anything that calls it."""
    await list_tools(client, OLD)
    async with client.listen(NEW) as stream:
        assert await stream.message() == CHANGED
        await list_tools(client, OLD)
        assert await stream.message() == CHANGED
        await list_tools(client, NEW)
        await update(client, LAST)
        assert await stream.message() == updated(LAST)


async def test_a_client_that_lost_it_is_told_again(client: Client) -> None:
    """H-21, H-23: it has an event id, and is kept as all else is, on whatever node."""
    await list_tools(client, OLD)
    async with client.listen(NEW) as stream:
        start = stream.last
        assert await stream.message() == CHANGED
        told = stream.last
    assert start != told
    for node in (OLD, NEW):
        async with client.listen(node, start) as stream:
            assert await stream.message() == CHANGED
    async with client.listen(NEW, told) as stream:
        await update(client, LAST)
        assert await stream.message() == updated(LAST)


async def test_who_was_shown_no_list_is_told_of_none(client: Client) -> None:
    for node in (OLD, NEW, OLD):
        async with client.listen(node) as stream:
            await update(client, LAST)
            assert await stream.message() == updated(LAST)


async def test_a_page_that_is_not_shown_does_not_count(client: Client) -> None:
    """A list that was asked for in vain is not what the client knows."""
    await list_tools(client, OLD)
    assert (await client.error("tools/list", {"cursor": "x"}, NEW))["code"] == -32602
    async with client.listen(NEW) as stream:
        assert await stream.message() == CHANGED


async def test_nodes_of_one_release_tell_nothing(alice: Client) -> None:
    """Whichever of them showed the list, and whichever has the stream."""
    await alice.open()
    await subscribe(alice, LAST)
    last = None
    for shown_by, heard_by in ((0, 1), (1, 0), (0, 0)):
        await list_tools(alice, shown_by)
        async with alice.listen(heard_by, last) as stream:
            await update(alice, LAST)
            assert await stream.message() == updated(LAST)
            last = stream.last
