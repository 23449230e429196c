"""The store goes away and comes back, by SIGKILL: nothing that was acknowledged is lost, and nothing runs twice."""

import asyncio
from collections import Counter

from tests.acceptance.deployment import Deploy, until
from tests.acceptance.load import Load

LEASE = 3.0  # in which all workers have to come back
OUTAGE = 2.0 * LEASE
RUNS = [str(number) for number in range(50)]


async def test_an_outage_longer_than_the_lease_costs_no_run(deploy: Deploy) -> None:
    deployment = await deploy(lease_seconds=LEASE, worker_concurrency=30)
    one, other = [node.alice for node in deployment.nodes]
    created = await asyncio.gather(*(one.create("gated_once", label=label) for label in RUNS))
    waiters = [asyncio.create_task(other.outcome(task_id)) for task_id in created]
    await deployment.wait_for_starts(RUNS)
    await until(lambda: other.blocked == len(RUNS))
    deployment.store.kill()
    deployment.open_gates(*RUNS[::2])  # these end while the store is away
    await asyncio.sleep(OUTAGE)
    late = deployment.workers[0]
    late.pause()  # and comes back only when the other worker has already looked for work
    await asyncio.to_thread(deployment.store.restart)
    assert (await one.outcome(await one.create("instant", label="first")))["pid"] == deployment.workers[1].pid
    late.resume()
    deployment.open_gates(*RUNS)
    outcomes = await asyncio.gather(*waiters)
    assert [(outcome["label"], outcome["run"], outcome["attempt"]) for outcome in outcomes] == [(x, 1, 1) for x in RUNS]
    assert Counter(trace.label for trace in deployment.traces("start")) == Counter([*RUNS, "first"])
    assert Counter(task["status"] for task in await one.list()) == {"completed": 51}


async def test_a_killed_store_loses_nothing_that_was_acknowledged(deploy: Deploy) -> None:
    deployment = await deploy(max_tasks_per_principal=100_000)
    requestors = [node.alice for node in deployment.nodes]
    async with Load(requestors) as load:
        for _ in range(3):
            await load.wait_for_more(100)
            await asyncio.to_thread(deployment.store.restart)
        await load.wait_for_more(100)
    outcomes = await asyncio.gather(*map(requestors[0].outcome, load.created))
    assert [outcome["label"] for outcome in outcomes] == list(load.created.values())
    starts = Counter(trace.task for trace in deployment.traces("start"))
    assert [starts[task_id] for task_id in load.created] == [1] * len(load.created)
    listed = Counter(task["taskId"] for task in await requestors[1].list())
    assert set(listed) >= set(load.created)
    assert max(listed.values()) == 1
