"""Any node serves any request; one that dies takes nothing along but its connections."""

import asyncio
from collections import Counter

import httpx2
import pytest

from tests.acceptance.deployment import Deploy, until
from tests.acceptance.requestor import RpcError, StreamEnded


async def test_a_task_of_one_node_is_answered_by_the_other(deploy: Deploy) -> None:
    deployment = await deploy(workers=1)
    one, other = [node.alice for node in deployment.nodes]
    task_id = await one.create("gated", label="x")
    assert (await other.get(task_id))["status"] == "working"
    waiters = [asyncio.create_task(requestor.result(task_id)) for requestor in (one, other) for _ in range(5)]
    await until(lambda: one.blocked == other.blocked == 5)
    deployment.open_gates("x")
    answers = await asyncio.gather(*waiters)
    assert answers[0]["structuredContent"]["run"] == 1
    assert all(answer == answers[0] for answer in [*answers, await one.result(task_id), await other.result(task_id)])
    assert await one.get(task_id) == await other.get(task_id)


async def test_when_a_node_is_killed_the_other_answers_for_it(deploy: Deploy) -> None:
    deployment = await deploy(workers=1)
    one, other = [node.alice for node in deployment.nodes]
    task_id = await one.create("gated", label="x")
    lost = [asyncio.create_task(one.result(task_id)) for _ in range(5)]
    kept = [asyncio.create_task(other.outcome(task_id)) for _ in range(5)]
    await until(lambda: one.blocked == other.blocked == 5)
    deployment.nodes[0].process.kill()
    for waiter in lost:
        with pytest.raises(httpx2.TransportError):
            await waiter
    deployment.open_gates("x")
    assert [outcome["run"] for outcome in await asyncio.gather(*kept, other.outcome(task_id))] == [1] * 6


async def test_a_node_that_stops_lets_its_waiters_go(deploy: Deploy) -> None:  # F46
    deployment = await deploy(workers=1)
    one, other = [node.alice for node in deployment.nodes]
    task_id = await one.create("gated", label="x")
    waiters = [asyncio.create_task(one.result(task_id)) for _ in range(50)]
    await until(lambda: one.blocked == len(waiters))
    assert await asyncio.to_thread(deployment.nodes[0].process.terminate) == 0
    answers = await asyncio.gather(*waiters, return_exceptions=True)
    assert Counter(map(type, answers)) == {StreamEnded: len(waiters)}
    deployment.open_gates("x")
    assert (await other.outcome(task_id))["run"] == 1


async def test_every_created_task_has_an_id_of_its_own_and_is_listed_once(deploy: Deploy) -> None:
    deployment = await deploy(workers=1)
    one, other = [node.alice for node in deployment.nodes]
    creating = [(one, other)[number % 2].create("instant", label="x") for number in range(500)]
    created = await asyncio.gather(*creating)
    assert len(set(created)) == len(created)
    for requestor in (one, other):
        assert Counter(task["taskId"] for task in await requestor.list()) == Counter(created)
    assert await deployment.nodes[0].bob.list() == []


async def test_the_limit_of_unfinished_tasks_holds_over_all_nodes(deploy: Deploy) -> None:
    deployment = await deploy(workers=1, max_tasks_per_principal=20)
    requestors = [node.alice for node in deployment.nodes]
    creating = [requestors[number % 2].create("gated", label="x") for number in range(60)]
    results = await asyncio.gather(*creating, return_exceptions=True)
    refusals = [result for result in results if isinstance(result, RpcError)]
    created = [result for result in results if isinstance(result, str)]
    assert (len(created), len(refusals)) == (20, 40)
    assert {(refusal.code, refusal.data["reason"]) for refusal in refusals} == {(-32603, "too_many_tasks")}
    assert len(await requestors[0].list()) == 20
    await deployment.nodes[1].bob.create("gated", label="x")
    deployment.open_gates("x")
    await asyncio.gather(*map(requestors[1].result, created))
    await requestors[0].create("instant", label="y")
