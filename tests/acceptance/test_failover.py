"""Another server becomes the master: whoever waits is answered, and nothing runs twice."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.deployment import Deploy, until
from tests.sentinels import Group, running_group
from tests.servers import find_valkey

RUNS = [str(number) for number in range(10)]


@pytest.fixture
def group(tmp_path: Path) -> Iterator[Group]:
    with running_group(find_valkey(), tmp_path / "group") as running:
        yield running


async def test_a_failover_costs_no_task_and_no_run(deploy: Deploy, group: Group) -> None:  # F34
    """The master is killed when its replica has all; nodes and workers find the other by themselves."""
    deployment = await deploy(redis_url=group.url, lease_seconds=3.0, worker_concurrency=20, redis_patience_seconds=20)
    one, other = [node.alice for node in deployment.nodes]
    created = await asyncio.gather(*(one.create("gated_once", label=label) for label in RUNS))
    waiters = [asyncio.create_task(other.outcome(task_id)) for task_id in created]
    await deployment.wait_for_starts(RUNS)
    await until(lambda: other.blocked == len(RUNS))
    await asyncio.to_thread(group.settle)
    group.servers[0].kill()
    deployment.open_gates(*RUNS[::2])  # these end while there is no master
    during = asyncio.create_task(one.create("instant", label="during"))
    await asyncio.to_thread(group.wait_for_failover)
    assert (await one.outcome(await during))["run"] == 1
    deployment.open_gates(*RUNS)
    outcomes = await asyncio.gather(*waiters)
    assert [(outcome["label"], outcome["run"]) for outcome in outcomes] == [(label, 1) for label in RUNS]
    assert Counter(trace.label for trace in deployment.traces("start")) == Counter([*RUNS, "during"])
    assert Counter(task["status"] for task in await other.list()) == {"completed": len(RUNS) + 1}
