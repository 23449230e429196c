"""A task cancelled through one node, while it runs for another: it stops, and stays cancelled."""

import asyncio

import pytest

from tests.acceptance.deployment import Deploy, until, wait_for_dropped_run
from tests.acceptance.requestor import Requestor, RpcError


async def assert_cancelled(requestor: Requestor, task_id: str) -> None:
    assert (await requestor.get(task_id))["status"] == "cancelled"
    with pytest.raises(RpcError) as caught:
        await requestor.result(task_id)
    assert (caught.value.code, caught.value.message) == (-32602, "Task was cancelled")


async def test_a_running_task_is_stopped_and_its_waiters_are_told(deploy: Deploy) -> None:
    deployment = await deploy(workers=1)
    one, other = [node.alice for node in deployment.nodes]
    task_id = await one.create("gated", label="x")
    waiter = asyncio.create_task(one.result(task_id))
    await deployment.wait_for_trace("start", "x")
    await until(lambda: one.blocked == 1)
    assert (await other.cancel(task_id))["status"] == "cancelled"
    with pytest.raises(RpcError, match="Task was cancelled"):
        await waiter
    await deployment.wait_for_trace("cancelled", "x")
    await assert_cancelled(one, task_id)
    with pytest.raises(RpcError, match="already cancelled"):
        await one.cancel(task_id)


async def test_a_tool_that_does_not_listen_changes_nothing(deploy: Deploy) -> None:
    deployment = await deploy(workers=1)
    one, other = [node.alice for node in deployment.nodes]
    task_id = await one.create("stubborn", label="x")
    await deployment.wait_for_trace("start", "x")
    await other.cancel(task_id)
    await deployment.wait_for_trace("cancelled", "x")
    deployment.open_gates("x")
    await deployment.wait_for_trace("end", "x")
    await wait_for_dropped_run(deployment.workers[0])
    await assert_cancelled(one, task_id)


async def test_an_outcome_that_comes_too_late_is_dropped(deploy: Deploy) -> None:
    deployment = await deploy(nodes=1, workers=0)
    alice = deployment.nodes[0].alice
    async with deployment.proxied_worker() as (worker, proxy):
        task_id = await alice.create("gated", label="x")
        await deployment.wait_for_trace("start", "x")
        proxy.hold()  # the worker hears nothing of what happens now
        await alice.cancel(task_id)
        deployment.open_gates("x")
        await deployment.wait_for_trace("end", "x")
        proxy.release()
        await wait_for_dropped_run(worker)
        await assert_cancelled(alice, task_id)


async def test_a_waiting_task_never_starts(deploy: Deploy) -> None:
    deployment = await deploy(workers=1, worker_concurrency=1)
    one, other = [node.alice for node in deployment.nodes]
    await one.create("gated", label="first")
    await deployment.wait_for_trace("start", "first")
    task_id = await one.create("instant", label="cancelled")
    await other.cancel(task_id)
    last = await one.create("instant", label="last")
    deployment.open_gates("first")
    await other.result(last)
    await assert_cancelled(one, task_id)
    assert [trace.label for trace in deployment.traces("start")] == ["first", "last"]
