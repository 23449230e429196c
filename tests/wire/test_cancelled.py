"""``notifications/cancelled``: what it ends, and what it does not."""

import asyncio
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.http.gates import Gates
from tests.wire.client import JSON, STREAM, Client, Message, Stream, methods_of, notification, skip_priming
from tests.wire.conftest import Site
from tests.wire.forms import ADA, ASK, FORMS
from tests.wire.store import Store


def call_of(client: Client, *steps: list[Any]) -> Message:
    """A plain call."""
    return client.frame("tools/call", {"name": "talk", "arguments": {"script": steps}})


async def responses(stream: Stream) -> list[Message]:
    """The responses among all that comes."""
    messages = await stream.rest()
    return [message for message in messages if "method" not in message]


@pytest.mark.parametrize("node", [0, 1])
async def test_a_plain_call(alice: Client, gates: Gates, label: str, node: int) -> None:
    """L-07: it is stopped, on whatever node that arrives; no response is sent, and the stream ends."""
    await alice.open()
    request = call_of(alice, ["log", "info", 1], ["gate", label])
    async with alice.stream(request, node=0) as stream:
        await skip_priming(stream)
        await stream.message()
        await gates.reached(label)
        assert await alice.cancel(request, node) == 202
        assert await responses(stream) == []
    await gates.stopped(label)


async def test_a_plain_call_that_said_nothing_yet(alice: Client, gates: Gates, label: str) -> None:
    """L-07: nothing comes that could be taken for an answer."""
    await alice.open()
    request = call_of(alice, ["gate", label])
    calling = asyncio.create_task(alice.send(request))
    await gates.reached(label)
    assert await alice.cancel(request, node=1) == 202
    response = await calling
    assert "data:" not in response.text
    await gates.stopped(label)


async def test_a_plain_call_whose_client_has_gone(alice: Client, gates: Gates, label: str) -> None:
    """L-07, H-14: to go away stops nothing; to cancel does, before and after."""
    await alice.open()
    request = call_of(alice, ["log", "info", 1], ["gate", label])
    async with alice.stream(request) as stream:
        await skip_priming(stream)
        await gates.reached(label)
        last = stream.last
    async with alice.listen(node=1, last=last) as stream:
        await stream.message()
    assert await alice.cancel(request, node=1) == 202
    await gates.stopped(label)
    resumed = await alice.send({}, 0, {"accept": STREAM, "last-event-id": last}, verb="GET")
    assert resumed.status_code == 405


async def test_a_plain_call_that_asks(alice: Client) -> None:
    """L-07: its question is not asked any more, and an answer to it changes nothing."""
    await alice.open(FORMS)
    request = call_of(alice, ASK)
    async with alice.stream(request) as stream:
        await skip_priming(stream)
        asked = await stream.message()
        assert await alice.cancel(request, node=1) == 202
        assert await stream.rest() == []
    assert await alice.answer(asked, ADA) == 202
    assert await alice.result("ping") == {}


@pytest.mark.parametrize("accept", [JSON, STREAM])
async def test_a_wait_for_a_result(
    alice: Client, site: Site, redis: Redis, gates: Gates, label: str, accept: str
) -> None:
    """L-07, T-73: it ends alone, without a response; the task and all others who wait for it go on."""
    await alice.open()
    task_id = await alice.script(["gate", label])
    request = alice.frame("tasks/result", {"taskId": task_id})
    async with alice.waiting_for(task_id, node=0) as other:
        waiting = asyncio.create_task(alice.send(request, headers={"accept": accept}))
        await Store(redis, site.namespace).until_under_way(alice.session, request["id"])
        assert await alice.cancel(request, node=1) == 202
        assert "jsonrpc" not in (await waiting).text
        assert await alice.status(task_id) == "working"
        await gates.open(label)
        assert len(await responses(other)) == 1


async def test_a_request_that_made_a_task(alice: Client, gates: Gates, label: str) -> None:
    """T-73: a task is cancelled by tasks/cancel alone."""
    await alice.open()
    request = alice.frame("tools/call", {"name": "talk", "arguments": {"script": [["gate", label]]}, "task": {}})
    task_id = (await alice.send(request)).json()["result"]["task"]["taskId"]
    await gates.reached(label)
    for node in (0, 1):
        assert await alice.cancel(request, node) == 202
    assert await alice.status(task_id) == "working"
    await gates.open(label)
    assert (await alice.result("tasks/result", {"taskId": task_id}))["isError"] is False


async def test_what_is_not_under_way(alice: Client, bob: Client, gates: Gates, label: str) -> None:
    """L-07: unknown, finished, malformed, and of another session: accepted, and ignored."""
    await alice.open()
    await bob.open()
    request = call_of(alice, ["log", "info", 1], ["gate", label])
    async with alice.stream(request) as stream:
        await skip_priming(stream)
        await stream.message()
        strange: list[object] = [None, {}, [request["id"]]]
        ids: list[object] = [10**6, str(request["id"]), request["id"] + 0.5, None, True, [], {}, "", "x" * 9999]
        strange += [{"requestId": id} for id in ids]
        for params in strange:
            assert (await alice.send(notification("notifications/cancelled", params), 1)).status_code == 202
        assert await bob.cancel(request) == 202
        await gates.open(label)
        assert len(await responses(stream)) == 1
    assert await alice.cancel(request) == 202


async def test_ids_keep_their_type(alice: Client, gates: Gates, label: str) -> None:
    """L-05, L-07: 7 is not "7"."""
    await alice.open()
    requests = [call_of(alice, ["log", "info", 1], ["gate", f"{label} {id!r}"]) | {"id": id} for id in (7, "7")]
    async with alice.stream(requests[0]) as number, alice.stream(requests[1], node=1) as text:
        for stream in (number, text):
            await skip_priming(stream)
            await stream.message()
        assert await alice.cancel(requests[1], node=0) == 202
        assert await text.rest() == []
        await gates.open(f"{label} 7")
        (response,) = await number.rest()
    assert methods_of([response]) == ["response"]
    assert response["id"] == 7
