"""Situations that alerts are for, made of real processes, and what their metrics said before and in them.

A store with the users of ``ops/deploy/redis``, an API node, two workers and the exporter of Redis: whoever Prometheus
scrapes in ``ops/deploy/compose.yaml``.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from tests.acceptance.deployment import APP, TOKENS
from tests.acceptance.requestor import Requestor, RpcError
from tests.deploy.guarded import GuardedServer
from tests.deploy.promtool import Moment, write_test
from tests.deploy.recording import Recording
from tests.processes import HOST, Api, Child, Worker, find_free_port
from tests.servers import find_valkey

EXPORTER = "prometheus-redis-exporter"
ROUNDS = 20  # of scrapes, before the situation and in it
PAUSE_SECONDS = 0.25  # between two of them
INTERVAL = 45  # seconds between two of them when they are replayed
SETTINGS: dict[str, Any] = {"auth_tokens": TOKENS, "durability": "everysec", "lease_seconds": 1, "rate_limit": ""}
FILLED_BYTES = 24 * 1024 * 1024
TASK_BYTES = 1024 * 1024


class Exporter(Child):
    """Tells the metrics of Redis, as the user that it has in a deployment."""

    def __init__(self, binary: str, store: GuardedServer) -> None:
        self.port = find_free_port()
        options = {
            "redis.addr": f"{HOST}:{store.port}",
            "redis.user": "exporter",
            "redis.password": "exporter-password",
            "config-command": "-",  # it may not ask for the configuration, where passwords stand
            "web.listen-address": f"{HOST}:{self.port}",
        }
        super().__init__([binary, *(f"-{name}={value}" for name, value in options.items())])
        self.wait_for_log("Providing metrics at")


class Scene:
    """A deployment that is well, and its recording."""

    def __init__(self, store: GuardedServer, node: Api, workers: list[Worker], alice: Requestor) -> None:
        self.store = store
        self.node = node
        self.workers = workers
        self.alice = alice
        self.recording = Recording()
        self.targets: dict[tuple[str, str], str] = {("api", "node"): f"{node.url}/metrics"}

    async def scrape(self, http: httpx2.AsyncClient) -> None:
        """One round; who does not answer is left out."""
        pages = {}
        for target, url in self.targets.items():
            try:
                answer = await http.get(url)
            except httpx2.TransportError:
                continue
            assert answer.status_code == 200, answer.text
            pages[target] = answer.text
        self.recording.add(pages)

    async def record(self, meanwhile: Callable[[], Awaitable[None]] | None = None) -> None:
        """ROUNDS of scrapes; ``meanwhile`` is done in each."""
        async with httpx2.AsyncClient(trust_env=False, verify=False) as http:
            for _ in range(ROUNDS):
                if meanwhile is not None:
                    await meanwhile()
                await self.scrape(http)
                await asyncio.sleep(PAUSE_SECONDS)  # time passes for the server as well: what it keeps is read anew

    async def work(self) -> None:
        """A task that ends well."""
        await self.alice.result(await self.alice.create("instant", label="well"))


async def lose_workers(scene: Scene) -> None:
    """All workers are killed; tasks go on to be created."""
    for worker in scene.workers:
        worker.kill()

    async def create() -> None:
        await scene.alice.create("instant", label="waiting")

    await scene.record(create)


async def fill_store(scene: Scene) -> None:
    """Tasks with large arguments are created until the store takes no more."""
    with scene.store.connect_as("admin") as redis:
        redis.config_set("maxmemory", redis.info("memory")["used_memory"] + FILLED_BYTES)
    refused = False

    async def create() -> None:
        nonlocal refused
        for _ in range(2):
            try:
                await scene.alice.create("instant", label="x" * TASK_BYTES)
            except RpcError as error:
                refused = refused or error.data["reason"] == "storage_full"

    await scene.record(create)
    assert refused


async def fail_always(scene: Scene) -> None:
    """One tool fails whenever it is called; others do well."""

    async def fail() -> None:
        await scene.work()
        await scene.alice.result(await scene.alice.create("failing", reason="a fault of its own"))

    await scene.record(fail)


SITUATIONS = {"NoWorkers": lose_workers, "RedisMemoryHigh": fill_store, "FailureRatioHigh": fail_always}


@asynccontextmanager
async def set_scene(folder: Path, exporter: str) -> AsyncIterator[Scene]:
    """A deployment that works, and has been recorded while it did."""
    env = {"ACCEPTANCE_FOLDER": str(folder)}
    async with AsyncExitStack() as stack:
        store = stack.enter_context(GuardedServer(find_valkey(), folder / "store"))
        with store.connect_as("admin") as redis:
            redis.config_set("maxmemory", 1024**3)
        node = stack.enter_context(Api(APP, store.url_of("api"), env=env, **SETTINGS))
        ports = [find_free_port() for _ in range(2)]
        workers = [
            stack.enter_context(Worker(APP, store.url_of("worker"), env=env, **SETTINGS, metrics_port=port))
            for port in ports
        ]
        alice = await stack.enter_async_context(Requestor(node.url, "alice-token"))
        scene = Scene(store, node, workers, alice)
        metering = stack.enter_context(Exporter(exporter, store))
        scene.targets[("redis", "redis-exporter")] = f"http://{HOST}:{metering.port}/metrics"
        for number, port in enumerate(ports):
            scene.targets[("worker", f"worker-{number}")] = f"http://{HOST}:{port}/metrics"
        await scene.record(scene.work)
        yield scene


async def record_situation(folder: Path, alert: str, exporter: str) -> Path:
    """Makes the situation that ``alert`` is for, and returns promtool's test of it, which is in ``folder`` too."""
    async with set_scene(folder, exporter) as scene:
        await SITUATIONS[alert](scene)
        scene.recording.require("mcp_tasks_workers_up", "mcp_tasks_finished_total", "redis_memory_used_bytes")
    file = folder / f"{alert}.yml"
    before, end = (ROUNDS - 1) * INTERVAL, (2 * ROUNDS - 1) * INTERVAL
    moments = [Moment(INTERVAL, ()), Moment(before, ()), Moment(end, (alert,))]
    write_test(file, scene.recording.to_series(), moments, interval=INTERVAL)
    return file
