"""Many who wait: none is forgotten, whatever ends the wait, and whatever becomes of the node that they wait on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import httpx2
import pytest

from tests.http.gates import Gates
from tests.processes import Valkey
from tests.wire.client import Client, Message, Stream, skip_priming
from tests.wire.conftest import deploy

TASKS, CALLS, WAITERS = 100, 20, 50


@asynccontextmanager
async def all_of(streams: list[Any]) -> AsyncIterator[list[Stream]]:
    """All of these streams, open."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(stream) for stream in streams]


async def broken(stream: Stream) -> None:
    """Returns when a stream has ended without an answer, in whatever way."""
    with suppress(httpx2.TransportError):
        assert not [message for message in await stream.rest() if "method" not in message]


async def answer_on(stream: Stream) -> Message:
    """The response that a stream ends with."""
    message = (await stream.rest())[-1]
    assert "method" not in message
    return message


async def test_the_loss_of_a_node(http: httpx2.AsyncClient, valkey: Valkey, gates: Gates, label: str) -> None:
    """T-51, H-23: SIGKILL with a hundred blocked results on it: all go on through the other node."""
    with deploy(valkey, namespace="halved", workers=2, worker_concurrency=80) as site:
        alice = Client(http, site.urls, "alice-token")
        await alice.open()
        tasks = [await alice.script(["gate", label], ["log", "info", number]) for number in range(TASKS)]
        arguments = {"script": [["log", "info", 1], ["gate", label]]}
        requests = [alice.frame("tasks/result", {"taskId": task_id}) for task_id in tasks]
        requests += [alice.frame("tools/call", {"name": "talk", "arguments": arguments}) for _ in range(CALLS)]
        async with all_of([alice.stream(request, node=0) for request in requests]) as streams:
            for stream in streams:
                await skip_priming(stream)
            site.nodes[0].kill()
            await asyncio.gather(*map(broken, streams))
        positions = [stream.last for stream in streams]
        async with all_of([alice.listen(1, position) for position in positions]) as streams:
            for _ in requests:
                await gates.open(label)
            answers = await asyncio.gather(*map(answer_on, streams))
    assert [answer["id"] for answer in answers] == [request["id"] for request in requests]
    assert all(answer["result"]["isError"] is False for answer in answers)


async def test_a_node_that_is_told_to_stop(http: httpx2.AsyncClient, valkey: Valkey, gates: Gates, label: str) -> None:
    """H-10, H-18: its streams end, also those that were none yet, and go on through the other node."""
    with deploy(valkey, namespace="stopping", workers=1) as site:
        alice = Client(http, site.urls, "alice-token")
        await alice.open()
        task_id = await alice.script(["gate", label])
        arguments = {"script": [["gate", label]]}
        requests = [
            alice.frame("tasks/result", {"taskId": task_id}),
            alice.frame("tools/call", {"name": "talk", "arguments": arguments}),
        ]
        opening = [asyncio.create_task(end_of(alice, request)) for request in requests]
        async with alice.listen(node=0) as get:
            for _ in requests:
                await gates.reached(label)
            assert await asyncio.to_thread(site.nodes[0].terminate) == 0
            assert await get.rest() == []
        positions = await asyncio.gather(*opening)
        async with all_of([alice.listen(1, position) for position in positions]) as streams:
            for _ in requests:
                await gates.open(label)
            answers = await asyncio.gather(*map(answer_on, streams))
    assert [answer["id"] for answer in answers] == [request["id"] for request in requests]


async def end_of(client: Client, request: Message) -> str | None:
    """Where a stream stood when it ended without an answer."""
    async with client.stream(request, node=0) as stream:
        assert await stream.rest() == []
        return stream.last


@pytest.mark.parametrize("end", ["finish", "cancel", "expiry"])
async def test_many_waiters_of_one_task(alice: Client, gates: Gates, label: str, end: str) -> None:
    """T-51, X-2, X-6: all are answered, on both nodes, each with its own id and all with the same."""
    await alice.open()
    ttl = 3000 if end == "expiry" else None
    task_id = await alice.create("rush", {"label": label, "count": 1}, ttl=ttl)
    requests = [alice.frame("tasks/result", {"taskId": task_id}) for _ in range(WAITERS)]
    async with all_of([alice.stream(request, number % 2) for number, request in enumerate(requests)]) as streams:
        for stream in streams:
            await skip_priming(stream)
        await gates.reached(label)
        if end == "finish":
            await gates.open(label)
        elif end == "cancel":
            await alice.result("tasks/cancel", {"taskId": task_id}, node=1)
        answers = await asyncio.gather(*map(answer_on, streams))
    assert [answer.pop("id") for answer in answers] == [request["id"] for request in requests]
    assert answers == answers[:1] * WAITERS
    if end == "finish":
        assert answers[0]["result"]["structuredContent"] == {"result": 1}
    else:
        assert answers[0]["error"]["message"] == f"Task {'was cancelled' if end == 'cancel' else 'has expired'}"
        await gates.stopped(label)  # T-68
