"""/metrics, of a node and of its worker: what requestors do shows there, and nothing of who they are."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.http.conftest import APP, TOKENS, serve
from tests.http.gates import Gates
from tests.http.raw import exchange
from tests.http.requestor import Requestor, frame
from tests.processes import HOST, Api, Valkey, Worker, find_free_port
from tests.samples import Samples

UNKNOWN = {"taskId": "0-" + "0" * 32}
HOSTILE = ['a"b', "a\nb", "x" * 1000, 'mcp{tool="y"} 1', "\u2028é"]
OPERATIONS = "mcp_server_operation_duration_seconds_count"
STREAMS = 2  # of one principal: the last one may still be about to end when the next begins


@dataclass(frozen=True)
class Watched:
    """A node, its worker, and whoever scrapes them."""

    api: Api
    port: int
    http: httpx2.AsyncClient

    @property
    def alice(self) -> Requestor:
        """A requestor, in a new session."""
        return Requestor(self.http, f"{self.api.url}/mcp", "alice-token")

    @property
    def bob(self) -> Requestor:
        """Another one."""
        return Requestor(self.http, f"{self.api.url}/mcp", "bob-token")

    async def page(self) -> str:
        """What the node says."""
        response = await self.http.get(f"{self.api.url}/metrics")
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
        return response.text

    async def worker_page(self) -> str:
        """What the worker says."""
        return (await self.http.get(f"http://{HOST}:{self.port}/metrics")).text

    async def api_samples(self) -> Samples:
        """The node's samples."""
        return Samples.read(await self.page())

    async def worker_samples(self) -> Samples:
        """The worker's samples."""
        return Samples.read(await self.worker_page())

    async def until(self, holds: Callable[[Samples, Samples], bool]) -> None:
        """Returns when the samples of node and worker are as they should be."""
        while not holds(await self.api_samples(), await self.worker_samples()):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)

    async def until_operations(self, before: Samples, count: int, method: str, error_type: str) -> None:
        """Returns when so many were counted, which is after each was answered."""
        labels = {"mcp_method_name": method, "error_type": error_type}
        await self.until(lambda node, _: node.since(before, OPERATIONS, **labels) == count)


@pytest.fixture(scope="module")
def processes(valkey: Valkey) -> Iterator[tuple[Api, int]]:
    port = find_free_port()
    settings: dict[str, Any] = {"namespace": "watched", "min_ttl": 1, "auth_tokens": TOKENS}
    with (
        serve(valkey, max_streams_per_principal=STREAMS, **settings) as api,
        Worker(APP, valkey.url, metrics_port=port, **settings),
    ):
        yield api, port


@pytest.fixture
def watched(processes: tuple[Api, int], http: httpx2.AsyncClient) -> Watched:
    return Watched(*processes, http)


async def test_the_life_of_tasks(watched: Watched) -> None:
    """T-97: what was created, how it ended, how long it waited and ran."""
    api, worker = await watched.api_samples(), await watched.worker_samples()
    alice = watched.alice
    await alice.finish("echo", text="x")
    await alice.finish("refuse", reason="no")

    def holds(node: Samples, runs: Samples) -> bool:
        return (
            node.since(api, "mcp_tasks_created_total", tool="echo") == 1
            and node.since(api, "mcp_tasks_created_total", tool="refuse") == 1
            and runs.since(worker, "mcp_tasks_finished_total", tool="echo", status="completed") == 1
            and runs.since(worker, "mcp_tasks_finished_total", tool="refuse", status="failed") == 1
            and runs.since(worker, "mcp_tasks_queue_wait_seconds_count", tool="echo") == 1
            and runs.since(worker, "mcp_tasks_run_duration_seconds_count", tool="echo", status="completed") == 1
        )

    await watched.until(holds)


async def test_a_plain_call_is_an_operation_and_no_task(watched: Watched) -> None:
    before = await watched.api_samples()
    alice = watched.alice
    await alice.call("echo", text="x")
    await alice.call("refuse", reason="no")
    await alice.call("echo", text=7)
    await alice.error("tools/call", {"name": "raise_error", "arguments": {"code": 123456, "message": "x"}})
    for error_type, count in {"": 1, "tool_error": 2, "other": 1}.items():
        await watched.until_operations(before, count, "tools/call", error_type)
    after = await watched.api_samples()
    assert after.since(before, "mcp_tasks_created_total", tool="echo") == 0


async def test_who_waits_for_a_result(watched: Watched, gates: Gates, label: str) -> None:
    before = await watched.api_samples()
    bob = watched.bob  # who has no stream that may not have ended yet
    task_id = await bob.create("gated", label=label)
    async with bob.waiting_for(task_id) as stream, bob.waiting_for(task_id) as other:
        await watched.until(lambda node, _: node.get("mcp_tasks_result_waiters") == STREAMS)
        assert "too_many_streams" in (await bob.ask("tasks/result", {"taskId": task_id})).text
        await gates.open(label)
        await stream.answer()
        await other.answer()
    await watched.until(lambda node, _: node.get("mcp_tasks_result_waiters") == 0)
    after = await watched.api_samples()
    assert after.since(before, "mcp_tasks_result_wait_seconds_count", outcome="completed") == STREAMS
    assert after.since(before, "mcp_tasks_rate_limited_total", reason="too_many_streams") == 1
    assert after.since(before, "mcp_tasks_wakeups_total", source="message") >= 1


async def test_what_is_cancelled_and_what_comes_too_late(watched: Watched, gates: Gates, label: str) -> None:
    before = await watched.api_samples()
    alice = watched.alice
    task_id = await alice.create("gated", label=label)
    await gates.reached(label)
    await alice.result("tasks/cancel", {"taskId": task_id})
    await alice.error("tasks/cancel", {"taskId": task_id})
    after = await watched.api_samples()
    assert after.since(before, "mcp_tasks_cancelled_total", phase="running") == 1
    assert after.since(before, "mcp_tasks_finished_total", tool="gated", status="cancelled") == 1
    rejected = {"from_": "cancelled", "to": "cancelled"}
    assert after.since(before, "mcp_tasks_transitions_rejected_total", **rejected) == 1
    await watched.until_operations(before, 1, "tasks/cancel", "-32602")


async def test_what_goes_away_with_its_ttl(watched: Watched) -> None:
    before = await watched.worker_samples()
    call = {"name": "echo", "arguments": {"text": "x"}, "task": {"ttl": 1}}
    await watched.alice.result("tools/call", call)
    statuses = ("working", "completed")  # whether it was run in that millisecond or not
    await watched.until(
        lambda _, runs: any(runs.since(before, "mcp_tasks_expired_total", status=status) for status in statuses)
    )


async def test_who_guesses_and_who_has_no_token(watched: Watched) -> None:
    """T-100."""
    before = await watched.api_samples()
    await watched.alice.error("tasks/get", UNKNOWN)
    for token in (None, "wrong"):
        stranger = Requestor(watched.http, f"{watched.api.url}/mcp", token)
        assert (await stranger.send(frame("ping"))).status_code == 401
    after = await watched.api_samples()
    assert after.since(before, "mcp_tasks_lookup_misses_total") == 1
    assert after.since(before, "mcp_tasks_auth_failures_total", reason="missing") >= 1
    assert after.since(before, "mcp_tasks_auth_failures_total", reason="invalid_token") >= 1


async def test_the_store_and_the_build(watched: Watched) -> None:
    await watched.until(lambda node, _: node.get("mcp_tasks_workers_up", queue="plain") == 1)
    node, runs = await watched.api_samples(), await watched.worker_samples()
    assert node.get("mcp_tasks_queue_size", queue="default", state="ready") == 0
    assert node.get("mcp_tasks_queue_oldest_seconds", queue="default") == 0
    assert node.get("mcp_tasks_active", status="input_required") == 0
    assert runs.get("mcp_tasks_active", status="working") is None
    assert (node.get("mcp_tasks_store_script_seconds_count", script="survey") or 0) >= 1
    for samples in (node, runs):
        assert len(samples.labels("version")) == 1


async def test_names_that_clients_make_up_are_no_labels(watched: Watched) -> None:
    alice = watched.alice
    before = await watched.api_samples()
    for name in HOSTILE:
        await alice.error(name)
        await alice.error("tools/call", {"name": name})
        await alice.error("tools/call", {"name": name, "task": {}})
        await alice.error("tasks/get", {"taskId": name})
        await alice.error("resources/read", {"uri": name})
    await watched.until_operations(before, len(HOSTILE), "other", "-32601")
    page = await watched.page()
    after = Samples.read(page)
    assert "xxxx" not in page
    for label in ("tool", "mcp_method_name", "reason", "queue", "script"):
        assert not after.labels(label).intersection(HOSTILE)
        assert len(after.labels(label)) < 50


async def test_no_trace_of_requestors(watched: Watched) -> None:
    """Neither tokens, nor ids, nor what was asked for and answered."""
    alice = watched.alice
    task_id = await alice.finish("echo", text="canary text")
    await alice.get(task_id)
    session = alice._headers["mcp-session-id"]
    for page in (await watched.page(), await watched.worker_page()):
        for secret in (task_id, session, "alice", "canary", "swordfish"):
            assert secret not in page


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (["Host: localhost:1"], 200),
        (["Host: 10.1.2.3:8000"], 200),  # Kubernetes: by address
        (["Host: [fd00::1]:8000"], 200),
        (["Host: rebound.example"], 403),
        (["Host: rebound.example", "Origin: http://rebound.example"], 403),
        (["Host: 10.1.2.3:8000", "Origin: http://elsewhere.example"], 403),
        (["Host: a b"], 400),
    ],
)
async def test_no_page_of_another_site_gets_it(watched: Watched, headers: list[str], status: int) -> None:
    """H-03: the node listens on loopback."""
    reply = await exchange(f"{watched.api.url}/mcp", headers, method="GET", head="GET /metrics HTTP/1.1")
    assert reply.status == status
    assert (b"mcp_tasks_created_total" in reply.body) == (status == 200)


async def test_a_store_that_is_away_takes_its_gauges_along_and_nothing_else(
    http: httpx2.AsyncClient, tmp_path: Path
) -> None:
    with Valkey(tmp_path) as store, Api(APP, store.url) as api:
        url = f"{api.url}/metrics"
        assert "mcp_tasks_queue_size{" in (await http.get(url)).text
        store.kill()
        while "mcp_tasks_queue_size{" in (page := (await http.get(url)).text):  # noqa: ASYNC110 - kept a while
            await asyncio.sleep(0.05)
        assert "mcp_tasks_created_total{" in page
        assert (Samples.read(page).get("mcp_tasks_store_errors_total", kind="connection") or 0) >= 1


async def test_a_port_that_is_taken_ends_the_worker_with_one_line(valkey: Valkey, processes: tuple[Api, int]) -> None:
    with pytest.raises(AssertionError, match="RECEIVER_METRICS_PORT: can't listen on port"):
        Worker(APP, valkey.url, namespace="watched", metrics_port=processes[1])
