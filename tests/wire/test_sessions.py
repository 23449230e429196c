"""Sessions: known to every node, and never a credential."""

from collections.abc import Callable, Iterator

import httpx2
import pytest
from redis.asyncio import Redis

from tests.http.gates import Gates
from tests.processes import Valkey
from tests.wire.client import STREAM, Client, Message, notification
from tests.wire.conftest import Site, deploy
from tests.wire.store import Store

CAP = 3
UNKNOWN = "0" * 48


@pytest.fixture(scope="module")
def brief(valkey: Valkey) -> Iterator[Site]:
    """Its sessions are few, and do not live long."""
    with deploy(valkey, namespace="brief", workers=0, session_idle_seconds=2, max_sessions_per_principal=CAP) as site:
        yield site


async def use(client: Client, node: int) -> list[httpx2.Response]:
    """The responses to everything that a session can be used for."""
    messages: list[Message] = [
        client.frame("ping"),
        client.frame("initialize", {"protocolVersion": "2025-11-25"}),
        client.frame("logging/setLevel", {"level": "info"}),
        client.frame("tools/list"),
        client.frame("tools/call", {"name": "announced"}),
        client.frame("tools/call", {"name": "announced", "task": {}}),
        client.frame("tools/call", {"name": "talk", "arguments": {"script": 1}}),
        client.frame("tools/call", {"name": "talk", "arguments": {"script": 1}, "task": {}}),
        client.frame("tools/call", {"name": "unknown"}),
        client.frame("tasks/get", {"taskId": "0-" + "0" * 32}),
        client.frame("tasks/get", {"taskId": 1}),
        client.frame("tasks/list"),
        client.frame("resources/subscribe", {"uri": "test://watched/1"}),
        client.frame("resources/unsubscribe", {"uri": "test://watched/1"}),
        client.frame("resources/subscribe", {"uri": 1}),
        client.frame("unknown"),
        notification("notifications/initialized"),
        notification("notifications/cancelled", {"requestId": 1}),
        {"jsonrpc": "2.0", "id": "ask-1", "result": {}},
    ]
    responses = [await client.send(message, node) for message in messages]
    responses.append(await client.send({}, node, {"accept": STREAM}, verb="GET"))
    return [*responses, await client.send({}, node, verb="DELETE")]


def statuses(responses: list[httpx2.Response]) -> set[int]:
    return {response.status_code for response in responses}


async def test_every_node_knows_a_session(alice: Client) -> None:
    """H-25, H-28: begun on one node, used on the other."""
    await alice.open(node=0)
    assert await alice.result("ping", node=1) == {}
    async with alice.listen(node=1):
        assert await alice.result("ping", node=0) == {}


async def test_ids_of_sessions(connect: Callable[[str], Client]) -> None:
    """H-26: visible ASCII, none twice."""
    ids = []
    for number in range(20):
        client = connect("alice-token")
        await client.open(node=number % 2)
        ids.append(client.session)
    assert len(set(ids)) == 20
    assert all(len(id) >= 32 and all(0x21 <= ord(letter) <= 0x7E for letter in id) for id in ids)


async def test_a_session_is_needed(alice: Client) -> None:
    """H-29: 400 where it is missing; only initialize can do without."""
    responses = await use(alice, 0)
    began = responses.pop(1)
    assert (began.status_code, "mcp-session-id" in began.headers) == (200, True)
    assert statuses(responses) == {400}
    assert responses[0].json()["error"]["message"] == "Mcp-Session-Id is missing; initialize gives one"


@pytest.mark.parametrize("session", [UNKNOWN, "x", "", "\u00e9", "*", "0" * 5000])
async def test_a_session_that_never_was(alice: Client, session: str) -> None:
    """H-30"""
    response = await alice.send(alice.frame("ping"), headers={"mcp-session-id": session.encode().decode("latin-1")})
    assert response.status_code == 404


async def test_an_ended_session_is_unknown_to_all(alice: Client) -> None:
    """H-30, H-31: 404 for whatever it is used for, also on a node that knew it well."""
    await alice.open()
    assert await alice.result("ping", node=1) == {}
    ended = await alice.send({}, 0, verb="DELETE")
    assert (ended.status_code, ended.content) == (204, b"")
    for node in (0, 1):
        responses = await use(alice, node)
        assert statuses(responses) == {404}
        assert responses[0].json() == {
            "jsonrpc": "2.0",
            "error": {"code": -32600, "message": "This session has ended; begin a new one with initialize"},
        }


async def test_the_end_of_a_session_ends_its_streams(alice: Client) -> None:
    """H-13: on both nodes; what a stream had cannot be resumed."""
    await alice.open()
    async with alice.listen(node=0) as here, alice.listen(node=1) as there:
        await alice.send({}, verb="DELETE")
        assert await here.rest() == []
        assert await there.rest() == []
        resuming = {"accept": STREAM, "last-event-id": here.last}
        assert (await alice.send({}, 1, resuming, verb="GET")).status_code == 404


async def test_the_end_of_a_session_touches_no_task(
    alice: Client, connect: Callable[[str], Client], gates: Gates, label: str
) -> None:
    """X-15: who waits is answered, and the next session has all of the tasks."""
    await alice.open()
    task_id = await alice.script(["gate", label], ["progress", 1])
    async with alice.waiting_for(task_id, node=1) as stream:
        await gates.reached(label)
        assert (await alice.send({}, verb="DELETE")).status_code == 204
        again = connect("alice-token")
        await again.open()
        assert await again.status(task_id, node=1) == "working"
        await gates.open(label)
        assert (await stream.rest())[-1]["result"]["structuredContent"] == {"result": [None, None]}
    assert await again.status(task_id) == "completed"


async def test_a_session_is_no_credential(alice: Client, connect: Callable[[str], Client]) -> None:
    """S-01: with the session of another, a principal has nothing; and so has one without a token."""
    await alice.open()
    bob = connect("bob-token").join(alice.session)
    for node in (0, 1):
        assert statuses(await use(bob, node)) == {404}
    nobody = {"authorization": None}
    for verb in ("POST", "GET", "DELETE"):
        assert (await alice.send(alice.frame("ping"), headers=nobody, verb=verb)).status_code == 401
    assert await alice.result("ping") == {}


async def test_a_second_initialize_is_refused(alice: Client) -> None:
    """The session stays what it was."""
    await alice.open()
    error = await alice.error("initialize", {"protocolVersion": "2025-06-18"}, node=1)
    assert error == {"code": -32600, "message": "This session is initialized already"}
    assert (await alice.result("tools/list"))["tools"][0]["execution"] == {"taskSupport": "optional"}


async def test_a_silent_session_ends(http: httpx2.AsyncClient, brief: Site, redis: Redis) -> None:
    """One with an open stream is not silent, and lives on after the stream."""
    store = Store(redis, brief.namespace)
    silent, listening = (Client(http, brief.urls, f"newcomer-{number}-token") for number in range(2))
    await listening.open()
    async with listening.listen(node=1):
        await silent.open()
        await store.until_gone(store.keys.session(silent.session))
        assert (await silent.send(silent.frame("ping"), 1)).status_code == 404
        assert await listening.result("ping") == {}
    assert await listening.result("ping", node=1) == {}


async def test_a_waiting_request_keeps_its_session(http: httpx2.AsyncClient, brief: Site, redis: Redis) -> None:
    """A blocked tasks/result is activity."""
    store = Store(redis, brief.namespace)
    silent, waiting = (Client(http, brief.urls, f"newcomer-{number}-token") for number in range(2, 4))
    await waiting.open()
    task_id = await waiting.create("announced", {})
    async with waiting.waiting_for(task_id, node=1):
        await silent.open()
        await store.until_gone(store.keys.session(silent.session))
        assert await waiting.status(task_id) == "working"


async def test_too_many_sessions(http: httpx2.AsyncClient, brief: Site) -> None:
    """The one that was silent longest ends for the new one; others' sessions do not."""
    clients = [Client(http, brief.urls, "newcomer-4-token") for _ in range(CAP + 1)]
    other = Client(http, brief.urls, "newcomer-5-token")
    await other.open()
    for number in range(CAP):
        await clients[number].open(node=number % 2)
    assert await clients[0].result("ping", node=1) == {}
    await clients[CAP].open()
    for node in (0, 1):
        alive = [(await client.send(client.frame("ping"), node)).status_code for client in (*clients, other)]
        assert alive == [200, 404, 200, 200, 200]
