"""Event streams: how they look, who gets what, and how a client goes on with one that it lost."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from redis.asyncio import Redis

from receiver.http import reply
from tests.http.gates import Gates
from tests.wire.client import JSON, STREAM, Client, Message, Stream, methods_of, read_messages
from tests.wire.conftest import Site
from tests.wire.store import Store, until

RETRY_MS = 2000


def say(*texts: object) -> list[list[Any]]:
    """Steps that log."""
    return [["log", "info", text] for text in texts]


def said(messages: Sequence[Message]) -> list[Any]:
    """What was logged, in order; there must be nothing else."""
    assert set(methods_of(messages)) <= {"notifications/message"}
    return [message["params"]["data"] for message in messages]


async def drain(stream: Stream, into: list[Message]) -> None:
    """Reads all that comes."""
    async for event in stream.events():
        into.append(event.message)


async def test_how_a_stream_opens(alice: Client, gates: Gates, label: str) -> None:
    """H-09, H-11, H-20: with an id, when to come back, and no data; for every kind of stream."""
    await alice.open()
    steps = [["log", "info", 1], ["gate", label]]
    task_id = await alice.script(["gate", label])
    requests = [
        alice.frame("tasks/result", {"taskId": task_id}),
        alice.frame("tools/call", {"name": "talk", "arguments": {"script": steps}}),
    ]
    for request in requests:
        async with alice.stream(request, node=1) as stream:
            event = await stream.next()
            assert event.id
            assert (event.retry, event.data) == (RETRY_MS, "")
            await gates.open(label)
            assert methods_of(await stream.rest())[-1] == "response"  # H-12
    async with alice.stream_of(alice.get_request()) as stream:
        event = await stream.next()
        assert (event.retry, event.data) == (RETRY_MS, "")


def test_what_keeps_a_stream_alive() -> None:
    """H-10: how often a sign of life is sent, and when a stream is closed for its client to come back."""
    assert (reply.KEEP_ALIVE_SECONDS, reply.LONGEST_STREAM_SECONDS) == (15, 900)


async def test_what_answers_soon_is_json(alice: Client) -> None:
    """H-08, T-36: whatever could have been a stream."""
    await alice.open()
    task_id = await alice.create("announced", {})
    await alice.result("tasks/result", {"taskId": task_id})
    for request in (
        alice.frame("ping"),
        alice.frame("tools/call", {"name": "announced"}),
        alice.frame("tools/call", {"name": "announced", "task": {}}),
        alice.frame("tasks/get", {"taskId": task_id}),
        alice.frame("tasks/result", {"taskId": task_id}),
        alice.frame("tasks/cancel", {"taskId": task_id}),
    ):
        response = await alice.send(request, node=1)
        assert response.headers["content-type"] == JSON
        assert response.json()["id"] == request["id"]


async def test_the_first_message_opens_a_stream(alice: Client, gates: Gates, label: str) -> None:
    """H-08: of a plain call, which says nothing at first."""
    await alice.open()
    await gates.open(label)
    async with alice.calling("talk", {"script": [["gate", label], *say("a"), ["gate", label]]}) as stream:
        assert said([await stream.message()]) == ["a"]
        await gates.open(label)
        assert methods_of(await stream.rest()) == ["response"]


async def test_a_call_that_says_nothing_becomes_a_stream(alice: Client, gates: Gates, label: str) -> None:
    """H-08: after a while."""
    await alice.open()
    async with alice.calling("talk", {"script": [["gate", label]]}) as stream:
        await gates.open(label)
        assert methods_of(await stream.rest()) == ["response"]


async def test_a_client_that_takes_json_only(alice: Client, gates: Gates, label: str) -> None:
    """H-08, H-27: its answer comes alone, and what was said meanwhile on another stream."""
    await alice.open()
    steps = [["gate", label], *say("a", "b"), ["gate", label]]
    task_id = await alice.script(*steps)
    request = alice.frame("tasks/result", {"taskId": task_id})
    call = alice.frame("tools/call", {"name": "talk", "arguments": {"script": [["progress", 1]]}})
    assert (await alice.send(call, headers={"accept": JSON})).headers["content-type"] == JSON
    async with alice.listen(node=1) as stream:
        waiting = asyncio.create_task(alice.send(request, headers={"accept": JSON}))
        await gates.reached(label)
        await gates.open(label)
        assert said(await stream.take(2)) == ["a", "b"]
        await gates.open(label)
        response = await waiting
    assert response.headers["content-type"] == JSON
    assert response.json()["result"]["structuredContent"] == {"result": [None] * 4}


async def test_a_client_that_takes_streams_only(alice: Client) -> None:
    """H-08"""
    await alice.open()
    for method, params in (("ping", {}), ("tools/call", {"name": "announced"}), ("tasks/get", {"taskId": "x"})):
        request = alice.frame(method, params)
        response = await alice.send(request, headers={"accept": STREAM})
        assert response.headers["content-type"] == STREAM
        (answer,) = read_messages(response)
        assert answer["id"] == request["id"]


async def test_a_get_is_a_stream(alice: Client) -> None:
    """H-15: for a client that takes one."""
    await alice.open()
    assert (await alice.send({}, headers={"accept": JSON}, verb="GET")).status_code == 406


async def test_two_get_streams_share_what_is_said(alice: Client, gates: Gates, label: str) -> None:
    """H-27, H-19: each message goes out on one of them, on whatever node."""
    await alice.open()
    task_id = await alice.script(["gate", label], *say(*range(50)), ["gate", label], *say(*range(50, 100)), *say("end"))
    heard: list[Message] = []
    async with alice.listen(node=0) as here, alice.listen(node=1) as there:
        reading = [asyncio.create_task(drain(stream, heard)) for stream in (here, there)]
        await gates.open(label)
        await gates.reached(label)
        await gates.reached(label)
        await gates.open(label)

        async def is_over() -> bool:
            return "notifications/tasks/status" in methods_of(heard)

        await until(is_over)
        await alice.send({}, verb="DELETE")
        await asyncio.gather(*reading)
    (ended,) = [message for message in heard if message["method"] == "notifications/tasks/status"]
    assert ended["params"]["status"] == "completed"
    heard.remove(ended)
    assert sorted(map(str, said(heard))) == sorted(map(str, [*range(100), "end"]))
    assert {message["params"]["_meta"]["io.modelcontextprotocol/related-task"]["taskId"] for message in heard} == {
        task_id
    }


async def test_two_results_share_what_is_said(alice: Client, gates: Gates, label: str) -> None:
    """H-27, T-23: on both nodes; each message goes out on one of them, and both are answered."""
    await alice.open()
    task_id = await alice.script(["gate", label], *say(*range(100)), ["gate", label])
    heard: list[Message] = []
    async with alice.waiting_for(task_id, node=0) as here, alice.waiting_for(task_id, node=1) as there:
        await gates.open(label)
        await gates.open(label)
        await asyncio.gather(drain(here, heard), drain(there, heard))
    logged = [message for message in heard if message.get("method") == "notifications/message"]
    assert sorted(said(logged)) == list(range(100))
    assert methods_of(heard).count("response") == 2


async def test_a_stream_of_its_own_comes_first(
    alice: Client, site: Site, redis: Redis, gates: Gates, label: str
) -> None:
    """H-16, H-27: what a task says waits for one that waits for its result, though a GET stream could have it now."""
    await alice.open()
    task_id = await alice.script(["gate", label], *say("mine"))
    async with alice.listen(node=1) as get, alice.waiting_for(task_id, node=0) as stream:
        site.nodes[0].pause()
        try:
            await gates.open(label)
            store = Store(redis, site.namespace)
            await store.until_there(store.keys.outbox(task_id))
            await alice.script(*say("other"), node=1)
            assert said([await get.message()]) == ["other"]
        finally:
            site.nodes[0].resume()
        assert said([await stream.message()]) == ["mine"]


async def test_going_on_with_a_get_stream(alice: Client, site: Site, redis: Redis, gates: Gates, label: str) -> None:
    """H-23, H-27: on the other node, without a loss and without anything twice; what was said meanwhile too."""
    await alice.open()
    steps = [step for part in "abcd" for step in (*say(part), ["gate", f"{label} {part}"])]
    task_id = await alice.script(["gate", label], *steps)
    async with alice.listen(node=0) as stream:
        await gates.open(label)
        assert said([await stream.message()]) == ["a"]
        await gates.open(f"{label} a")
        seen = stream.last
        assert said([await stream.message()]) == ["b"]
    store = Store(redis, site.namespace)
    await store.until_open(store.keys.hearers(alice.session), 0)
    await gates.open(f"{label} b")
    await store.until_there(store.keys.outbox(task_id))  # nobody hears it
    async with alice.listen(node=1, last=seen) as stream:
        assert said(await stream.take(2)) == ["b", "c"]
        last = stream.last
    async with alice.listen(node=0, last=last) as stream:
        await gates.open(f"{label} c")
        assert said([await stream.message()]) == ["d"]
        await gates.open(f"{label} d")


async def test_going_on_with_a_plain_call(alice: Client, gates: Gates, label: str) -> None:
    """H-14, H-23, H-17: the call runs on; its response comes on a GET, because that goes on with its stream."""
    await alice.open()
    steps = [step for part in "abcd" for step in (*say(part), ["gate", f"{label} {part}"])]
    request = alice.frame("tools/call", {"name": "talk", "arguments": {"script": steps}})
    async with alice.stream(request, node=0) as stream:
        opening = (await stream.next()).id
        assert said([await stream.message()]) == ["a"]
        seen = stream.last
    for part in "ab":
        await gates.open(f"{label} {part}")
    await gates.reached(f"{label} c")
    async with alice.listen(node=1, last=seen) as stream:
        assert said(await stream.take(2)) == ["b", "c"]
        for part in "cd":
            await gates.open(f"{label} {part}")
        *messages, response = await stream.rest()
        assert said(messages) == ["d"]
        assert response["id"] == request["id"]
    async with alice.listen(node=0, last=opening) as stream:  # and again, if it lost all of that
        *messages, again = await stream.rest()
        assert said(messages) == ["a", "b", "c", "d"]
        assert again == response


async def test_going_on_with_a_result(alice: Client, gates: Gates, label: str) -> None:
    """H-23: as often as need be, from one node to the other; the response comes last."""
    await alice.open()
    task_id = await alice.script(["gate", label], *say("a"), ["gate", label])
    request = alice.frame("tasks/result", {"taskId": task_id})
    async with alice.stream(request, node=0) as stream:
        last = (await stream.next()).id
    async with alice.listen(node=1, last=last) as stream:
        await gates.open(label)
        assert said([await stream.message()]) == ["a"]
        last = stream.last
    async with alice.listen(node=0, last=last) as stream:
        await gates.open(label)
        ended = await stream.rest()
        assert methods_of(ended) == ["notifications/tasks/status", "response"]
        assert ended[-1]["id"] == request["id"]
        assert ended[-1]["result"]["structuredContent"] == {"result": [None] * 3}
    async with alice.listen(node=1, last=last) as stream:  # and again, if it lost that
        assert await stream.rest() == ended


async def test_a_connection_that_is_left_behind(alice: Client, gates: Gates, label: str) -> None:
    """H-27: a stream that its client went on with elsewhere ends, and takes nothing any more."""
    await alice.open()
    request = alice.frame(
        "tools/call", {"name": "talk", "arguments": {"script": [*say("a"), ["gate", label], *say("b")]}}
    )
    async with alice.stream(request, node=0) as old:
        opening = (await old.next()).id
        assert said([await old.message()]) == ["a"]
        async with alice.listen(node=1, last=opening) as new:
            assert said([await new.message()]) == ["a"]
            await gates.open(label)
            *messages, response = await new.rest()
            assert said(messages) == ["b"]
            assert response["id"] == request["id"]
            assert await old.rest() == []


async def test_positions_of_others(alice: Client, connect: Callable[[str], Client], gates: Gates, label: str) -> None:
    """H-22, H-24: an id is good for the stream on which it came, for its own client alone."""
    await alice.open()
    bob, again = connect("bob-token"), connect("alice-token")
    await bob.open()
    await again.open()
    task_id = await alice.script(["gate", label])
    async with alice.waiting_for(task_id) as stream:
        last = stream.last
        assert last
    wrong = ["", "x", "0-0", last[:-4], last[:-2] + ("AA" if not last.endswith("AA") else "BB"), last + "A", "A" * 5000]
    attempts = [(alice, id) for id in wrong] + [(bob, last), (again, last)]
    for client, id in attempts:
        response = await client.send({}, 1, {"accept": STREAM, "last-event-id": id}, verb="GET")
        assert response.status_code == 400
        assert response.json()["error"]["message"] == "Last-Event-ID is not of a stream of this session"
    await gates.open(label)


async def test_ids_of_events(alice: Client) -> None:
    """H-21: none twice in a session, on whatever stream and node."""
    await alice.open()
    ids: list[str | None] = []

    async def read(node: int) -> None:
        request = alice.frame("tools/call", {"name": "talk", "arguments": {"script": say(*range(50))}})
        async with alice.stream(request, node) as stream:
            ids.extend([event.id async for event in stream.events()])

    await asyncio.gather(*(read(number % 2) for number in range(4)))
    assert len(set(ids)) == len(ids) == 4 * 51


async def test_who_goes_away_leaves_nothing_behind(
    alice: Client, site: Site, redis: Redis, gates: Gates, label: str
) -> None:
    """T-21, H-14, H-18: no listener is left, and the task is as it was."""
    await alice.open()
    store = Store(redis, site.namespace)
    task_id = await alice.script(["gate", label])
    for node in (0, 1):
        async with alice.waiting_for(task_id, node), alice.listen(node):
            await store.until_open(store.keys.listeners(task_id), 1)
            await store.until_open(store.keys.hearers(alice.session), 1)
        await store.until_open(store.keys.listeners(task_id), 0)
        await store.until_open(store.keys.hearers(alice.session), 0)
    assert await alice.status(task_id) == "working"
    await gates.open(label)
    assert "result" in (await alice.ask("tasks/result", {"taskId": task_id}))


@pytest.mark.parametrize("accept", [JSON, f"{JSON}, {STREAM}"])
async def test_a_call_whose_client_goes_away_runs_on(alice: Client, gates: Gates, label: str, accept: str) -> None:
    """H-14"""
    await alice.open()
    request = alice.frame("tools/call", {"name": "talk", "arguments": {"script": [["gate", label]]}})
    calling = asyncio.create_task(alice.send(request, headers={"accept": accept}))
    await gates.reached(label)
    calling.cancel()
    await gates.open(label)
    await gates.passed(label)
