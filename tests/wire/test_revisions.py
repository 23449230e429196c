"""What streams are in the revisions before tasks, 2025-06-18 and 2025-03-26."""

import asyncio

import pytest

from tests.http.gates import Gates
from tests.wire.client import JSON, STREAM, Client, methods_of, read_messages
from tests.wire.forms import ADA, ASK, FORMS

OLDER = ["2025-06-18", "2025-03-26"]


@pytest.mark.parametrize("version", OLDER)
async def test_there_is_no_priming_event(alice: Client, gates: Gates, label: str, version: str) -> None:
    """H-09: these clients would take it for a message; and without ids no stream can be gone on with."""
    await alice.open(version=version)
    steps = [["log", "info", 1], ["gate", label]]
    request = alice.frame("tools/call", {"name": "talk", "arguments": {"script": steps}, "_meta": {"progressToken": 1}})
    async with alice.stream(request, node=1) as stream:
        events = [await stream.next()]
        await gates.open(label)
        events += [event async for event in stream.events()]
    assert [event.data for event in events[:1]] == [None]
    assert methods_of([event.message for event in events[1:]]) == ["notifications/message", "response"]
    assert {(event.id, event.retry) for event in events} == {(None, None)}


@pytest.mark.parametrize("version", OLDER)
async def test_a_get_stream(alice: Client, version: str) -> None:
    """H-09, H-15: nothing but a comment, until something is said."""
    await alice.open(version=version)
    async with alice.stream_of(alice.get_request(node=0)) as stream:
        event = await stream.next()
        assert (event.id, event.retry, event.data) == (None, None, None)


@pytest.mark.parametrize("version", OLDER)
async def test_a_call_that_asks(alice: Client, version: str) -> None:
    """X-9: answered through the other node; and so with a stream of its own and no task."""
    await alice.open(FORMS, version=version)
    request = alice.frame("tools/call", {"name": "talk", "arguments": {"script": [ASK]}, "task": {}})
    async with alice.stream(request) as stream:
        asked = await stream.message()
        assert await alice.answer(asked, ADA, node=1) == 202
        (response,) = await stream.rest()
    assert response["result"]["content"][0]["text"] == '{"result":[{"action":"accept","content":{"name":"Ada"}}]}'


@pytest.mark.parametrize("version", OLDER)
async def test_a_call_that_is_cancelled(alice: Client, gates: Gates, label: str, version: str) -> None:
    """L-07"""
    await alice.open(version=version)
    request = alice.frame("tools/call", {"name": "talk", "arguments": {"script": [["gate", label]]}})
    calling = asyncio.create_task(alice.send(request))
    await gates.reached(label)
    assert await alice.cancel(request, node=1) == 202
    await gates.stopped(label)
    assert "jsonrpc" not in (await calling).text


@pytest.mark.parametrize("version", ["2025-11-25", *OLDER])
async def test_the_session_knows_its_revision(alice: Client, version: str) -> None:
    """H-33: a request that does not say it is of the session's, on every node."""
    await alice.open(version=version)
    for node in (0, 1):
        silent = {"mcp-protocol-version": None}
        tools = (await alice.send(alice.frame("tools/list"), node, silent)).json()["result"]["tools"]
        assert all(("execution" in tool) == (version == "2025-11-25") for tool in tools)
        task = {"name": "announced", "task": {}}
        result = (await alice.send(alice.frame("tools/call", task), node, silent)).json()["result"]
        assert ("task" in result) == (version == "2025-11-25")


async def test_a_client_that_takes_streams_only(alice: Client) -> None:
    """H-08, H-09"""
    await alice.open(version="2025-06-18")
    request = alice.frame("tools/call", {"name": "announced", "task": {}})
    response = await alice.send(request, headers={"accept": STREAM})
    (answer,) = read_messages(response)
    assert "id: " not in response.text
    assert (await alice.send(request, headers={"accept": JSON})).json()["result"] == answer["result"]
