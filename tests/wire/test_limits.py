"""What one principal may ask for, and how a refusal looks."""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from redis.asyncio import Redis

from tests.processes import Valkey
from tests.wire.client import STREAM, Client, skip_priming
from tests.wire.conftest import Site, deploy
from tests.wire.store import Store

RATE, WINDOW_SECONDS = 5, 600
STREAMS, TASKS, SUBSCRIPTIONS = 2, 3, 2


@pytest.fixture(scope="module")
def strict(valkey: Valkey) -> Iterator[Site]:
    """Its limits are low, and nobody runs what is asked for."""
    limits: dict[str, Any] = {
        "rate_limit": f"{RATE}/{WINDOW_SECONDS}s",
        "miss_limit": "",
        "max_streams_per_principal": STREAMS,
        "max_tasks_per_principal": TASKS,
        "max_subscriptions": SUBSCRIPTIONS,
    }
    with deploy(valkey, namespace="strict", workers=0, **limits) as site:
        yield site


@pytest.fixture
async def newcomer(http: httpx2.AsyncClient, strict: Site, numbers: Iterator[int]) -> Client:
    """Someone who has asked for nothing yet."""
    client = Client(http, strict.urls, f"newcomer-{next(numbers)}-token")
    await client.open()
    return client


@pytest.fixture(scope="module")
def numbers() -> Iterator[int]:
    return iter(range(10, 100))


def refused(response: httpx2.Response, reason: str) -> int:
    """The ms after which a refused request may be tried again."""
    assert response.status_code == 200
    error = response.json()["error"]
    assert error["code"] == -32603
    assert error["data"].keys() == {"reason", "retryAfterMs"}
    assert error["data"]["reason"] == reason
    wait: int = error["data"]["retryAfterMs"]
    assert wait > 0
    assert int(response.headers["retry-after"]) == -(-wait // 1000)
    return wait


METHODS: list[tuple[str, dict[str, Any]]] = [
    ("ping", {}),
    ("tools/list", {}),
    ("tasks/list", {}),
    ("tasks/get", {"taskId": "0-" + "0" * 32}),
    ("tasks/result", {"taskId": "0-" + "0" * 32}),
    ("tasks/cancel", {"taskId": "0-" + "0" * 32}),
    ("logging/setLevel", {"level": "info"}),
    ("tools/call", {"name": "talk", "arguments": {"script": "wrong"}}),
    ("resources/subscribe", {"uri": "test://watched/1"}),
    ("resources/unsubscribe", {"uri": "test://watched/1"}),
]


@pytest.mark.parametrize(("method", "params"), METHODS)
async def test_too_many_requests_of_a_kind(newcomer: Client, method: str, params: dict[str, Any]) -> None:
    """T-91: counted over all nodes; other kinds of requests go on."""
    for number in range(RATE):
        response = await newcomer.send(newcomer.frame(method, params), number % 2)
        assert response.json().get("error", {}).get("code") in (None, -32602)
    for node in (0, 1):
        response = await newcomer.send(newcomer.frame(method, params), node)
        assert refused(response, "rate_limited") <= 2 * WINDOW_SECONDS * 1000
    other = "tools/list" if method == "ping" else "ping"
    assert "result" in await newcomer.ask(other)


async def test_too_many_calls(newcomer: Client) -> None:
    """T-91: a plain call that is refused begins no stream, and nothing is run."""
    for _ in range(RATE):
        await newcomer.call("talk", {"script": "wrong"})
    for params in ({"name": "announced"}, {"name": "announced", "task": {}}):
        refused(await newcomer.send(newcomer.frame("tools/call", params)), "rate_limited")
    assert await newcomer.result("tasks/list") == {"tasks": []}


async def test_each_principal_has_its_own(newcomer: Client, http: httpx2.AsyncClient, strict: Site) -> None:
    """T-91: in all of its sessions together."""
    again = Client(http, strict.urls, newcomer.token)
    other = Client(http, strict.urls, "alice-token")
    await again.open()
    await other.open()
    for number in range(RATE):
        await (newcomer, again)[number % 2].result("ping")
    refused(await again.send(again.frame("ping")), "rate_limited")
    assert await other.result("ping") == {}


async def test_a_refusal_says_when_to_come_back(http: httpx2.AsyncClient, valkey: Valkey) -> None:
    """T-91: then the request is served; what was refused is not counted."""
    with deploy(valkey, namespace="patient", workers=0, rate_limit="2/1s") as site:
        alice = Client(http, site.urls, "alice-token")
        await alice.open()
        for _ in range(2):
            served, wait = 0, 0
            while not wait:
                response = await alice.send(alice.frame("ping"), served % 2)
                if "error" in response.json():
                    wait = refused(response, "rate_limited")
                served += 1
            for _ in range(10):
                await alice.send(alice.frame("ping"), 1)
            wait = refused(await alice.send(alice.frame("ping")), "rate_limited")
            await asyncio.sleep(wait / 1000)  # as it was told to
            assert await alice.result("ping") == {}


async def test_too_many_streams(newcomer: Client, redis: Redis, strict: Site) -> None:
    """T-91: GET streams and blocked results together, of a principal on one node; until one is closed."""
    task_id = await newcomer.create("announced", {})
    waiting = newcomer.frame("tasks/result", {"taskId": task_id})
    calling = newcomer.frame("tools/call", {"name": "announced"})
    async with newcomer.listen(node=0), newcomer.waiting_for(task_id, node=0):
        for request in (waiting, calling):
            refused(await newcomer.send(request, 0), "too_many_streams")
        response = await newcomer.send({}, 0, {"accept": STREAM}, verb="GET")
        assert (response.status_code, response.headers["retry-after"]) == (429, "1")
        async with newcomer.waiting_for(task_id, node=1):
            assert len((await newcomer.result("tasks/list"))["tasks"]) == 1  # nothing was run for it
    store = Store(redis, strict.namespace)
    await store.until_open(store.keys.listeners(task_id), 0)
    async with newcomer.stream(waiting, node=0) as stream:
        await skip_priming(stream)


async def test_too_many_tasks(newcomer: Client) -> None:
    """T-92: unfinished ones; plain calls are among them."""
    tasks = [await newcomer.create("announced", {}, node) for node in (0, 1, 0)]
    assert len(tasks) == TASKS
    for params in ({"name": "announced", "task": {}}, {"name": "announced"}):
        refused(await newcomer.send(newcomer.frame("tools/call", params), 1), "too_many_tasks")


async def test_too_many_subscriptions(newcomer: Client) -> None:
    """Each session has so many, over all nodes, until it gives one back."""
    uris = [{"uri": f"test://watched/{number}"} for number in range(SUBSCRIPTIONS + 1)]
    for node, uri in enumerate(uris[:SUBSCRIPTIONS]):
        assert await newcomer.result("resources/subscribe", uri, node) == {}
    refused(await newcomer.send(newcomer.frame("resources/subscribe", uris[-1]), 1), "too_many_subscriptions")
    assert await newcomer.result("resources/unsubscribe", uris[0]) == {}
    assert await newcomer.result("resources/subscribe", uris[-1]) == {}
