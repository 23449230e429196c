"""Tools that do not stop by themselves, on a worker with one slot."""

import os
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.processes import Valkey
from tests.wire.client import Client
from tests.wire.conftest import Site, deploy
from tests.workers.stage import until
from workers.threads import ABANDONED_LIMIT


@pytest.fixture
def site(valkey: Valkey) -> Iterator[Site]:
    settings = {"worker_concurrency": 1, "plain_reserved_slots": 0, "shutdown_grace_seconds": 0}
    with deploy(valkey, namespace="stubborn", app="tests.apps.stubborn:app", workers=1, **settings) as site:
        yield site


@pytest.fixture
async def alice(http: httpx2.AsyncClient, site: Site) -> Client:
    alice = Client(http, site.urls, "alice-token")
    await alice.open()
    return alice


async def status_of(alice: Client, task_id: str) -> tuple[str, str | None]:
    task = await alice.get(task_id)
    return task["status"], task.get("statusMessage")


async def test_a_cancel_ends_the_process_of_an_endless_loop(alice: Client, tmp_path: Path) -> None:
    written = tmp_path / "pid"
    task_id = await alice.create("spin", {"file": str(written)})
    await until(lambda: written.exists() and written.read_text())
    spinning = int(written.read_text())
    os.kill(spinning, 0)
    cancelled = await alice.result("tasks/cancel", {"taskId": task_id}, node=1)
    assert cancelled["status"] == "cancelled"
    assert (await alice.result("tools/call", {"name": "pid", "arguments": {}}))["isError"] is False
    with pytest.raises(ProcessLookupError):
        os.kill(spinning, 0)


async def test_a_thread_that_hangs_is_over_for_its_caller_and_frees_its_slot(alice: Client) -> None:
    for _ in range(ABANDONED_LIMIT):
        task_id = await alice.create("hang", {})
        result = await alice.result("tasks/result", {"taskId": task_id}, node=1)
        assert result["isError"]
        message = "Tool 'hang' was stopped: it took longer than 0.2 s"
        assert await status_of(alice, task_id) == ("failed", message)
    assert (await alice.result("tools/call", {"name": "pid", "arguments": {}}))["isError"] is False


async def test_a_worker_with_too_many_hanging_threads_ends(alice: Client, site: Site) -> None:
    (worker,) = site.workers
    for _ in range(ABANDONED_LIMIT + 1):
        task_id = await alice.create("hang", {})
        assert (await alice.result("tasks/result", {"taskId": task_id}))["isError"]
    await until(lambda: worker.returncode is not None)
    assert "worker_worn" in worker.log
