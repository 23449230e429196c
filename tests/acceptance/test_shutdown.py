"""SIGTERM of a worker: what it runs ends in time or goes back, and costs no attempt."""

import asyncio
from collections import Counter

from tests.acceptance.deployment import Deploy
from tests.acceptance.load import Load


async def test_a_run_that_does_not_end_in_time_is_handed_back(deploy: Deploy) -> None:
    deployment = await deploy(nodes=1, shutdown_grace_seconds=0)
    alice = deployment.nodes[0].alice
    task_id = await alice.create("gated", label="x")
    first = await deployment.wait_for_trace("start", "x")
    assert await asyncio.to_thread(deployment.worker_of(first).terminate) == 0
    second = await deployment.wait_for_trace("start", "x", run=2)
    deployment.open_gates("x")
    assert await alice.outcome(task_id) == {"label": "x", "run": 2, "attempt": 1, "pid": second.pid}
    assert [trace.run for trace in deployment.traces("cancelled", "x")] == [1]


async def test_a_run_that_ends_in_time_is_finished(deploy: Deploy) -> None:
    deployment = await deploy(nodes=1)
    alice = deployment.nodes[0].alice
    task_id = await alice.create("gated", label="x")
    first = await deployment.wait_for_trace("start", "x")
    worker = deployment.worker_of(first)
    stopping = asyncio.create_task(asyncio.to_thread(worker.terminate))
    await asyncio.to_thread(worker.wait_for_log, "worker_draining")
    after = await alice.outcome(await alice.create("instant", label="after"))
    assert after["pid"] != first.pid
    deployment.open_gates("x")
    assert await alice.outcome(task_id) == {"label": "x", "run": 1, "attempt": 1, "pid": first.pid}
    assert await stopping == 0


async def test_a_rolling_restart_loses_nothing_and_repeats_nothing(deploy: Deploy) -> None:
    deployment = await deploy(max_tasks_per_principal=100_000)
    requestors = [node.alice for node in deployment.nodes]
    async with Load(requestors) as load:
        for worker in list(deployment.workers):
            await load.wait_for_more(50)
            await deployment.start_worker()
            assert await asyncio.to_thread(worker.terminate) == 0
        await load.wait_for_more(50)
    outcomes = await asyncio.gather(*map(requestors[0].outcome, load.created))
    assert [outcome["label"] for outcome in outcomes] == list(load.created.values())
    assert {outcome["attempt"] for outcome in outcomes} == {1}
    starts = Counter(trace.task for trace in deployment.traces("start"))
    assert [starts[task_id] for task_id in load.created] == [1] * len(load.created)
