"""A tool of three steps with a question in the middle outlives everybody, and does nothing twice."""

import asyncio
from collections import Counter
from typing import Any

import httpx2
import pytest
from redis import Redis

from receiver.store.keys import Keys
from tests.acceptance.deployment import LOOK_SECONDS, Deploy, Deployment, until
from tests.wire.client import Client, Stream

STEPS = ("one", "two", "three")
POINTS = [f"{where}_{step}" for step in STEPS for where in ("before", "in", "behind")]
BEFORE_THE_QUESTION = POINTS[:3]
ASKING = "asking"
LABELS = [*POINTS, ASKING]  # of tasks: each is held at one point
CONTENT = {"name": "plain"}
RESULT = ["one", str(CONTENT), "two", "three"]


class Attendant:
    """The client of one task: asks for its result as often as it takes, and answers the question once it may."""

    def __init__(self, client: Client, label: str) -> None:
        self._client = client
        self._label = label
        self._node = 0
        self.asked = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.task_id = ""

    async def create(self) -> None:
        self.task_id = await self._client.create("compose", {"label": self._label})

    async def attend(self) -> Any:
        """The result."""
        while True:
            try:
                if (result := await self._follow_once()) is not None:
                    return result
            except httpx2.TransportError:
                self._node = 1 - self._node
            await asyncio.sleep(LOOK_SECONDS)

    async def _follow_once(self) -> Any:
        async with self._client.result_or_stream(self.task_id, self._node) as answer:
            if not isinstance(answer, Stream):  # the task ended while its client was away
                return answer["result"]
            async for event in answer.events():
                message = event.message
                if message.get("method") == "elicitation/create":
                    self.asked.set()
                    await self.may_answer.wait()
                    await self._client.accept(message, CONTENT, self._node)
                elif "method" not in message:
                    return message["result"]
        return None


class Stage:
    """A task held at each point, all of them on one worker."""

    def __init__(self, deployment: Deployment, client: Client) -> None:
        self.deployment = deployment
        self.attendants = {label: Attendant(client, label) for label in LABELS}
        self.attending: list[asyncio.Task[Any]] = []

    async def prepare(self) -> None:
        gates = [f"{label}.{point}" for label in LABELS for point in POINTS if point != label]
        self.deployment.open_gates(*gates)
        for label, attendant in self.attendants.items():
            if label not in (*BEFORE_THE_QUESTION, ASKING):
                attendant.may_answer.set()
            await attendant.create()
            self.attending.append(asyncio.create_task(attendant.attend()))
        await until(lambda: self._reached().issuperset(f"{point}.{point}" for point in POINTS))
        await self.attendants[ASKING].asked.wait()

    async def wait_until_parked(self) -> None:
        with Redis.from_url(self.deployment.store.url) as redis:
            task = Keys().task(self.attendants[ASKING].task_id)
            await until(lambda: redis.hexists(task, "parked"))

    async def go_on(self) -> dict[str, int]:
        """Opens all gates, answers all questions; returns how often each step of each task was done."""
        self.deployment.open_gates(*(f"{point}.{point}" for point in POINTS))
        for attendant in self.attendants.values():
            attendant.may_answer.set()
        for result in await asyncio.gather(*self.attending):
            assert result["structuredContent"] == {"result": RESULT}
        return Counter(trace.label for trace in self.deployment.traces("effect"))

    def _reached(self) -> set[str]:
        return {trace.label for trace in self.deployment.traces("reach")}


def expected(again: bool) -> dict[str, int]:
    """Every step once; ``again``: those are done twice that were under way."""
    return {f"{label}/{step}": 1 + (again and label == f"in_{step}") for label in LABELS for step in STEPS}


async def open_client(deployment: Deployment, http: httpx2.AsyncClient) -> Client:
    client = Client(http, [f"{node.process.url}/mcp" for node in deployment.nodes], "alice-token")
    await client.open({"elicitation": {"form": {}}})
    return client


async def restart_nodes(deployment: Deployment) -> None:
    await asyncio.gather(*(deployment.start_node(port=node.process.port) for node in list(deployment.nodes)))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("victim", ["worker", "nodes", "store", "everybody, while it is parked"])
async def test_who_is_killed_at_any_point_costs_nothing_but_the_step_under_way(deploy: Deploy, victim: str) -> None:
    is_parked = victim.startswith("everybody")
    deployment = await deploy(
        workers=1,
        worker_concurrency=len(LABELS) + 1,
        appendfsync="always",
        park_after_seconds=0.05 if is_parked else 60,
    )
    async with httpx2.AsyncClient(timeout=60, trust_env=False, verify=False) as http:
        stage = Stage(deployment, await open_client(deployment, http))
        await stage.prepare()
        if is_parked:
            await stage.wait_until_parked()
        if victim == "worker" or is_parked:
            deployment.workers[0].kill()
        if victim == "nodes" or is_parked:
            for node in deployment.nodes:
                node.process.kill()
        if victim == "store" or is_parked:
            await asyncio.to_thread(deployment.store.restart)
        if victim == "nodes" or is_parked:
            await restart_nodes(deployment)
        if victim == "worker" or is_parked:
            await deployment.start_worker()
        assert await stage.go_on() == expected(again=victim == "worker" or is_parked)
