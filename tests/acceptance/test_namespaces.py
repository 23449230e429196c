"""Two deployments share one store and know nothing of each other."""

import asyncio

import pytest
from redis import Redis

from receiver.store.diagnosis.strays import find_spec
from receiver.store.keys import Keys
from tests.acceptance.deployment import Deploy
from tests.acceptance.requestor import RpcError

LABELS = [str(number) for number in range(20)]
NAMES = ("left", "right")


async def test_tasks_of_two_namespaces_do_not_mix(deploy: Deploy) -> None:
    deployment = await deploy(nodes=0, workers=0)
    nodes = [await deployment.start_node(namespace=name) for name in NAMES]
    workers = [await deployment.start_worker(namespace=name) for name in NAMES]
    created = [await asyncio.gather(*(node.alice.create("instant", label=x) for x in LABELS)) for node in nodes]
    for node, worker, task_ids in zip(nodes, workers, created, strict=True):
        outcomes = await asyncio.gather(*map(node.alice.outcome, task_ids))
        assert [(outcome["label"], outcome["pid"]) for outcome in outcomes] == [(x, worker.pid) for x in LABELS]
        assert {task["taskId"] for task in await node.alice.list()} == set(task_ids)
    with pytest.raises(RpcError, match="Task not found"):
        await nodes[1].alice.get(created[0][0])


async def test_each_key_belongs_to_one_namespace(deploy: Deploy) -> None:
    deployment = await deploy(nodes=0, workers=0)
    for name in NAMES:
        node = await deployment.start_node(namespace=name)
        await node.alice.create("gated", label=name)
        await deployment.start_worker(namespace=name)
    await deployment.wait_for_starts(NAMES)
    with Redis.from_url(deployment.store.url, decode_responses=True) as redis:
        found = redis.keys("*")
    owners = [[name for name in NAMES if find_spec(Keys(name), key)] for key in found]
    assert all(len(names) == 1 for names in owners), list(zip(found, owners, strict=True))
    assert {names[0] for names in owners} == set(NAMES)
