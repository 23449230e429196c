"""What the log tells of requestors, and how those are slowed down who guess or poll too much."""

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

from tests.http.gates import Gates
from tests.processes import Valkey
from tests.wire.client import Client, Message
from tests.wire.conftest import Site, deploy
from tests.wire.forms import ADA, ASK, FORMS, next_question

MISSES = 4
UNKNOWN = {"taskId": "0-" + "0" * 32}


@pytest.fixture(scope="module")
def wary(valkey: Valkey) -> Iterator[Site]:
    """Guesses are few before they are refused."""
    with deploy(valkey, namespace="wary", workers=0, miss_limit=f"{MISSES}/600s") as site:
        yield site


def told(site: Site, node: int, about: str) -> list[Message]:
    """The events of one node that name something."""
    lines = [json.loads(line) for line in site.nodes[node].log.splitlines() if line.startswith("{")]
    return [line for line in lines if line["logger"] == "receiver.audit" and about in str(line)]


async def test_who_did_what(alice: Client, site: Site, gates: Gates, label: str) -> None:
    """T-98, T-99: each operation with its principal, on the node that served it; never what was said."""
    await alice.open(FORMS)
    task_id = await alice.script(["gate", f"{label} secret"], node=0)
    other = await alice.script(ASK, node=0)
    async with alice.waiting_for(other, node=1) as stream:
        asked = await next_question(stream)
        await alice.answer(asked, ADA, node=1)
        await stream.rest()
    await alice.answer(asked, ADA | {"action": "decline"}, node=1)
    await alice.answer({"id": "ask-unknown"}, ADA, node=1)
    await alice.result("tasks/cancel", {"taskId": task_id}, node=1)
    await asyncio.to_thread(site.nodes[1].wait_for_log, f'"{task_id}"')
    created, cancelled = told(site, 0, task_id), told(site, 1, task_id)
    assert [event["event"] for event in (*created, *cancelled)] == ["task_created", "task_cancelled"]
    assert [event["event"] for event in told(site, 1, other)] == ["task_retrieved"]
    assert [event["event"] for event in told(site, 1, asked["id"])] == ["answer_taken", "answer_ignored"]
    events = [*created, *cancelled, *told(site, 1, other), *told(site, 1, asked["id"])]
    assert {event["subject"] for event in events} == {"alice"}
    assert len({event["owner"] for event in events}) == 1
    assert told(site, 1, "denied")
    for node in site.nodes:
        assert "secret" not in node.log
        assert "alice-token" not in node.log


@pytest.mark.parametrize("method", ["tasks/get", "tasks/result", "tasks/cancel"])
async def test_who_guesses_ids(http: httpx2.AsyncClient, wary: Site, method: str) -> None:
    """T-91, T-100: after some misses, on whatever node, they are refused; what is there is found all the same."""
    subject = {"tasks/get": 30, "tasks/result": 31, "tasks/cancel": 32}[method]
    client = Client(http, wary.urls, f"newcomer-{subject}-token")
    await client.open()
    task_id = await client.create("announced", {})
    for number in range(MISSES):
        params: Any = UNKNOWN if number % 2 else {"taskId": number}
        assert (await client.error(method, params, node=number % 2))["message"] == "Task not found"
    for node in (0, 1):
        error = await client.error(method, UNKNOWN, node)
        assert (error["code"], error["data"]["reason"]) == (-32603, "rate_limited")
    assert await client.status(task_id) == "working"


async def test_who_polls_too_often(alice: Client, connect: Callable[[str], Client], gates: Gates, label: str) -> None:
    """T-46, T-100: the interval that is shown grows, up to a limit, for this task alone."""
    await alice.open()
    task_id = await alice.script(["gate", label])
    shown = [(await alice.get(task_id))["pollInterval"] for _ in range(10)]
    assert shown == sorted(shown)
    assert (shown[0], shown[-1]) == (1000, 8000)
    other = await alice.script(["gate", label])
    assert (await alice.get(other))["pollInterval"] == 1000
    await gates.open(label)
    await gates.open(label)
