"""A worker dies, hangs, or can't be reached: its tasks go on, and each has one outcome."""

import asyncio
import time

import pytest

from tests.acceptance.deployment import Deploy, wait_for_dropped_run
from tests.acceptance.requestor import RpcError

LEASE = 1.0
OUTAGE = 2.2 * LEASE
WORKER_LOST = {"reason": "worker_lost", "attempts": 1}


async def test_a_killed_workers_task_finishes_on_the_other_worker(
    deploy: Deploy, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment = await deploy(lease_seconds=2)
    alice = deployment.nodes[0].alice
    task_id = await alice.create("gated", label="x")
    first = await deployment.wait_for_trace("start", "x")
    deployment.worker_of(first).kill()
    killed = time.monotonic()
    second = await deployment.wait_for_trace("start", "x", run=2)
    with capsys.disabled():
        print(f" [taken over {time.monotonic() - killed:.2f} s after SIGKILL, lease 2 s]", end="")
    deployment.open_gates("x")
    assert await alice.outcome(task_id) == {"label": "x", "run": 2, "attempt": 2, "pid": second.pid}
    assert second.pid != first.pid
    assert len(deployment.traces("start")) == 2


async def test_what_may_run_once_fails_with_its_worker(deploy: Deploy) -> None:
    deployment = await deploy(workers=1)
    alice, bob = deployment.nodes[0].alice, deployment.nodes[1].bob
    task_id = await alice.create("gated_once", label="task")
    call = asyncio.create_task(bob.call("gated", label="call"))
    await deployment.wait_for_starts(["task", "call"])
    deployment.workers[0].kill()
    await deployment.start_worker()
    with pytest.raises(RpcError) as of_task:
        await alice.result(task_id)
    with pytest.raises(RpcError) as of_call:
        await call
    assert (of_task.value.code, of_task.value.data) == (-32603, WORKER_LOST)
    assert (of_call.value.code, of_call.value.data) == (-32603, WORKER_LOST)
    assert (await alice.get(task_id))["status"] == "failed"
    assert len(deployment.traces("start")) == 2


@pytest.mark.parametrize("ends", ["while cut off", "afterwards"])
async def test_a_worker_alone_keeps_its_run_when_it_was_cut_off(deploy: Deploy, ends: str) -> None:
    deployment = await deploy(nodes=1, workers=0, lease_seconds=LEASE)
    alice = deployment.nodes[0].alice
    async with deployment.proxied_worker() as (worker, proxy):
        task_id = await alice.create("gated", label="x")
        await deployment.wait_for_trace("start", "x")
        proxy.hold()
        await asyncio.sleep(OUTAGE)
        if ends == "while cut off":
            deployment.open_gates("x")
            await deployment.wait_for_trace("end", "x")
        proxy.release()
        deployment.open_gates("x")
        assert await alice.outcome(task_id) == {"label": "x", "run": 1, "attempt": 1, "pid": worker.pid}
    assert len(deployment.traces("start")) == 1


async def test_the_outcome_of_a_worker_that_was_cut_off_and_replaced_is_dropped(deploy: Deploy) -> None:
    deployment = await deploy(nodes=1, workers=0, lease_seconds=LEASE)
    alice = deployment.nodes[0].alice
    async with deployment.proxied_worker() as (cut_off, proxy):
        task_id = await alice.create("gated", label="x")
        await deployment.wait_for_trace("start", "x")
        other = await deployment.start_worker()
        proxy.hold()
        await deployment.wait_for_trace("start", "x", run=2)
        deployment.open_gates("x.1")
        await deployment.wait_for_trace("end", "x", run=1)
        proxy.release()
        await wait_for_dropped_run(cut_off)
        assert (await alice.get(task_id))["status"] == "working"
        deployment.open_gates("x.2")
        assert await alice.outcome(task_id) == {"label": "x", "run": 2, "attempt": 2, "pid": other.pid}


async def test_a_worker_that_hung_and_was_replaced_changes_nothing(deploy: Deploy) -> None:  # F38
    deployment = await deploy(nodes=1, lease_seconds=LEASE, worker_concurrency=1)
    alice = deployment.nodes[0].alice
    task_id = await alice.create("gated", label="x")
    hung = deployment.worker_of(await deployment.wait_for_trace("start", "x"))
    hung.pause()
    second = await deployment.wait_for_trace("start", "x", run=2)
    deployment.open_gates("x.1")
    hung.resume()
    after = await alice.outcome(await alice.create("instant", label="after"))
    assert after["pid"] == hung.pid  # the only free slot: its late run is over and done with
    assert (await alice.get(task_id))["status"] == "working"
    deployment.open_gates("x.2")
    assert await alice.outcome(task_id) == {"label": "x", "run": 2, "attempt": 2, "pid": second.pid}
    assert len(deployment.traces("start", "x")) == 2
