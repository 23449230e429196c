"""The audit trail of a deployment: who did what from where, and nothing of what was said (T-98, T-99)."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import orjson
import pytest
from redis.asyncio import Redis

from receiver.principal import Principal
from receiver.protocol.task_id import new_task_id
from receiver.store.audit import AuditTrail
from receiver.store.client import Client, connect
from receiver.store.keys import Keys
from receiver.telemetry.audit import Entry, Event
from receiver.telemetry.ocsf import to_ocsf
from tests.http.conftest import TOKENS
from tests.http.requestor import Requestor, frame
from tests.processes import Api, Valkey, Worker

APP = "tests.apps.wire:app"
OWNERS = {name: Principal(name, issuer="static").owner for name in ("alice", "bob")}


class Deployed(NamedTuple):
    """Two nodes of a trail that no other test writes to."""

    first: Api
    second: Api
    worker: Worker
    redis_url: str


@pytest.fixture
def deployed(tmp_path: Path) -> Iterator[Deployed]:
    with Valkey(tmp_path) as valkey:
        settings: dict[str, Any] = {"auth_tokens": TOKENS}
        with (
            Api(APP, valkey.url, **settings) as first,
            Api(APP, valkey.url, **settings) as second,
            Worker(APP, valkey.url, **settings) as worker,
        ):
            yield Deployed(first, second, worker, valkey.url)


@pytest.fixture
async def trail(deployed: Deployed) -> AsyncIterator[AuditTrail]:
    redis = connect(deployed.redis_url)
    yield AuditTrail(Client(redis, Keys()))
    await redis.aclose(close_connection_pool=True)


def stop(deployed: Deployed) -> str:
    """Ends all processes, so that all that they had to append is there; what they logged."""
    processes = (deployed.worker, deployed.first, deployed.second)
    assert [process.terminate() for process in processes] == [0, 0, 0]
    return "".join(process.log for process in processes)


async def read(trail: AuditTrail) -> list[Entry]:
    return list(reversed((await trail.page(limit=1000)).entries))


def shape(event: Event) -> tuple[str, ...]:
    return event.operation, event.by if event.by == "worker" else event.who, event.outcome, event.detail


async def test_the_life_of_a_task(http: httpx2.AsyncClient, deployed: Deployed, trail: AuditTrail) -> None:
    """T-98, T-99: creation, completion and retrieval, with their principal, on whatever node.

    What waits in a node is appended when it stops.
    """
    alice = Requestor(http, f"{deployed.first.url}/mcp", "alice-token")
    also_alice = Requestor(http, f"{deployed.second.url}/mcp", "alice-token")
    task_id = await alice.finish("echo", text="canary-argument")
    await also_alice.get(task_id)
    await also_alice.result("tasks/list")
    await also_alice.error("tasks/cancel", {"taskId": task_id})
    log = stop(deployed)
    finished = [line for line in log.splitlines() if '"event": "task_finished"' in line]
    assert [orjson.loads(line)["owner"] for line in finished] == [OWNERS["alice"]]
    events = [entry.event for entry in await read(trail)]
    assert sorted(shape(event) for event in events if event.operation != "tasks/result") == [
        ("finish", "worker", "success", "completed"),
        ("tasks/cancel", "alice", "failure", "completed"),
        ("tasks/get", "alice", "success", "completed"),
        ("tasks/list", "alice", "success", "1 tasks"),
        ("tools/call", "alice", "success", ""),
    ]
    (retrieved,) = [event for event in events if event.operation == "tasks/result"]
    assert (retrieved.outcome, retrieved.detail in {"working", "completed"}) == ("success", True)
    assert {event.task for event in events if event.operation != "tasks/list"} == {task_id}
    assert {event.owner for event in events} == {OWNERS["alice"]}
    assert {event.address for event in events if event.by == "client"} == {"127.0.0.1"}


async def test_who_is_denied(http: httpx2.AsyncClient, deployed: Deployed, trail: AuditTrail) -> None:
    """T-100: a foreign task is told from an unknown one here, and here alone (T-89)."""
    url = f"{deployed.first.url}/mcp"
    alice, bob = Requestor(http, url, "alice-token"), Requestor(http, url, "bob-token")
    hers, unknown = await alice.finish("echo", text="x"), new_task_id()
    answers = [await bob.error("tasks/get", {"taskId": task_id}) for task_id in (hers, unknown, "canary-id")]
    assert answers[0] == answers[1] == answers[2]
    await bob.error("tasks/result", {"taskId": hers})
    await bob.error("tasks/cancel", {"taskId": hers})
    answer = {"jsonrpc": "2.0", "id": "ask-1", "result": {"action": "accept", "content": {"name": "canary-answer"}}}
    for id in ("ask-1", "ask-2"):
        assert (await bob.send(answer | {"id": id})).status_code == 400
    stranger = Requestor(http, url, "canary-token")
    for _ in range(3):
        assert (await stranger.send(frame("ping"))).status_code == 401
    log = stop(deployed)
    denied = [entry for entry in await read(trail) if entry.event.outcome == "denied"]
    assert sorted((*shape(entry.event), entry.event.task) for entry in denied) == sorted(
        [
            ("answer", "bob", "denied", "not asked", ""),
            ("authenticate", "", "denied", "invalid_token", ""),
            ("tasks/cancel", "bob", "denied", "foreign", hers),
            ("tasks/get", "bob", "denied", "foreign", hers),
            ("tasks/get", "bob", "denied", "malformed", ""),
            ("tasks/get", "bob", "denied", "unknown", unknown),
            ("tasks/result", "bob", "denied", "foreign", hers),
        ]
    )
    assert sum(entry.times for entry in denied if entry.event.operation == "answer") == 2
    # Each request of a stranger comes behind an attempt to begin a session.
    assert [entry.times for entry in denied if entry.event.operation == "authenticate"] == [6]
    assert {entry.event.owner for entry in denied} == {OWNERS["bob"], ""}
    assert log.count('"event": "denied"') == 7
    assert "canary" not in log


async def test_who_comes_by_a_proxy(http: httpx2.AsyncClient, deployed: Deployed, trail: AuditTrail) -> None:
    """The web server believes a proxy on its own machine."""
    alice = Requestor(http, f"{deployed.first.url}/mcp", "alice-token")
    headers = {"x-forwarded-for": "203.0.113.9"}
    params = {"name": "echo", "arguments": {"text": "x"}, "task": {}}
    await alice.send(frame("tools/call", params, "request-1"), headers)
    created = next(entry.event for entry in await read(trail) if entry.event.operation == "tools/call")
    assert (created.address, created.request) == ("203.0.113.9", "request-1")


async def test_nothing_is_told_of_what_was_said(
    http: httpx2.AsyncClient, deployed: Deployed, trail: AuditTrail
) -> None:
    """Neither arguments, nor results, nor errors, nor tokens; not even in the log."""
    alice = Requestor(http, f"{deployed.first.url}/mcp", "alice-token")
    await alice.finish("echo", text="canary-task")
    await alice.finish("refuse", reason="canary-reason")
    await alice.call("echo", text="canary-call")
    await alice.error("tools/call", {"name": "add", "arguments": {"a": "canary-misfit"}, "task": {}})
    await alice.error("tasks/get", {"taskId": "canary-id"})
    log = stop(deployed)
    entries = await read(trail)
    async with Redis.from_url(deployed.redis_url) as redis:
        stored = await redis.xrange(Keys().audit())
    rendered = b"".join(orjson.dumps(to_ocsf(entry, "1")) for entry in entries)
    for text in (str(stored), rendered.decode(), log):
        assert "canary" not in text
        assert "-token" not in text
    created = [entry.event for entry in entries if entry.event.operation == "tools/call"]
    assert [event.label for event in created] == ["task:echo", "task:refuse", "call:echo"]
    assert [event.size for event in created] == [str(len(b'{"text":"canary-task"}')), "26", "22"]
    assert len({event.digest for event in created}) == 3
