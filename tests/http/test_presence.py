"""API nodes and their waiters, as operators see them."""

import asyncio
from typing import Any

import httpx2
import pytest
from redis.asyncio import Redis

from receiver.store.census import Census, NodeView
from receiver.store.client import Client
from receiver.store.keys import Keys
from tests.http.conftest import APP
from tests.http.requestor import Requestor
from tests.processes import Api, Valkey

LOOK_SECONDS = 0.02


@pytest.fixture
def client(redis: Redis, request: pytest.FixtureRequest) -> Client:
    """Of a namespace that is this test's alone."""
    return Client(redis, Keys(request.function.__name__))


async def until_nodes(client: Client, count: int) -> list[NodeView]:
    """The nodes, when there are so many."""
    while len(nodes := await Census(client).list_nodes()) != count:  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(LOOK_SECONDS)
    return nodes


async def test_two_nodes_are_shown_until_one_ends_and_one_is_killed(
    http: httpx2.AsyncClient, valkey: Valkey, client: Client
) -> None:
    settings: dict[str, Any] = {"namespace": client.keys.namespace}
    with Api(APP, valkey.url, **settings) as ending, Api(APP, valkey.url, **settings) as killed:
        nodes = await until_nodes(client, 2)
        assert {(node.pid, node.url) for node in nodes} == {(ending.pid, ending.url), (killed.pid, killed.url)}
        assert all(abs(node.clock_offset) < 2_000 and not node.is_draining for node in nodes)
        assert await asyncio.to_thread(ending.terminate) == 0
        (left,) = await until_nodes(client, 1)
        assert left.pid == killed.pid
        killed.kill()
        hash_key = client.keys.node(left.name)
        assert 0 < await client.redis.pttl(hash_key) <= 20_000
        await client.redis.pexpire(hash_key, 1)  # rather than wait for so long
        await until_nodes(client, 0)


async def test_who_waits_is_shown_with_what_it_waits_for(
    http: httpx2.AsyncClient, valkey: Valkey, client: Client
) -> None:
    with Api(APP, valkey.url, namespace=client.keys.namespace) as api:
        requestor = Requestor(http, f"{api.url}/mcp")
        task_id = await requestor.create("echo", text="x")
        async with requestor.waiting_for(task_id) as stream:
            calling = asyncio.create_task(requestor.ask("tools/call", {"name": "echo", "arguments": {"text": "x"}}))
            while len(waiters := await Census(client).list_waiters()) != 2:  # noqa: ASYNC110 - by the next beat
                await asyncio.sleep(LOOK_SECONDS)
            assert [(waiter.kind, waiter.task_id == task_id) for waiter in waiters] == [("task", True), ("call", False)]
            sessions, _ = await Census(client).list_sessions()
            assert {waiter.session for waiter in waiters} == {session.id for session in sessions}
            (node,) = await until_nodes(client, 1)
            assert (node.results, node.calls) == (1, 1)
            await requestor.result("tasks/cancel", {"taskId": task_id})
            assert b"cancelled" in await stream.answer()
            calling.cancel()
