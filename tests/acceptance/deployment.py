"""A whole deployment: one store, API nodes and workers, all of them children of the test.

It lives in a folder of its own, which also holds the ground truth of ``tests/apps/acceptance.py`` and its gates.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, TypeVar

from tests.acceptance.requestor import Requestor
from tests.jsonlines import read_lines
from tests.processes import Api, Child, Worker
from tests.proxy import Proxy
from tests.servers import find_valkey, start_server

APP = "tests.apps.acceptance:app"
TOKENS = {"alice-token": {"subject": "alice"}, "bob-token": {"subject": "bob"}}
DURABLE = ("--appendonly", "yes", "--maxmemory-policy", "noeviction")
PATIENCE_SECONDS = 40.0  # for whatever is meant to happen; even a slow machine needs a small part of it
LOOK_SECONDS = 0.01
LOG_SHOWN = 20_000  # characters of each log, where a test failed

Found = TypeVar("Found")
Started = TypeVar("Started", bound=Child)


@dataclass(frozen=True)
class Trace:
    """A line of ground truth: what a run did, and in which process."""

    event: str
    label: str
    task: str | None
    run: int
    attempt: int
    pid: int


@dataclass(frozen=True)
class Node:
    """An API process, and two requestors that speak to it."""

    process: Api
    alice: Requestor
    bob: Requestor


async def until(condition: Callable[[], Found]) -> Found:
    """Waits until ``condition`` gives something true, and returns that."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (found := condition()):  # noqa: ASYNC110 - what it waits for happens in other processes
            await asyncio.sleep(LOOK_SECONDS)
    return found


async def wait_for_dropped_run(worker: Worker) -> None:
    """Returns when a worker is done with a run that it was stopped in, or whose outcome was refused."""
    await until(lambda: any(event in worker.log for event in ("outcome_dropped", "run_stopped")))


class Deploy(Protocol):
    """Starts a deployment: what the fixture of this name is."""

    async def __call__(self, *, nodes: int = 2, workers: int = 2, **settings: object) -> "Deployment": ...


class Deployment:
    """``settings``, by name, are those of all its processes, and ``app`` is what they serve."""

    def __init__(self, folder: Path, app: str = APP, *, appendfsync: str = "everysec", **settings: object) -> None:
        self.folder = folder
        self._app = app
        self.settings = {"auth_tokens": TOKENS, "lease_seconds": 1, **settings}
        self.store = start_server(find_valkey(), folder / "store", *DURABLE, "--appendfsync", appendfsync)
        self.nodes: list[Node] = []
        self.workers: list[Worker] = []
        self._processes: list[Child] = []
        self._requestors = AsyncExitStack()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._requestors.aclose()
        for process in self._processes:
            process.kill()
            print(process.log[-LOG_SHOWN:])
        self.store.kill()
        self.store.stop()

    async def start(self, nodes: int, workers: int) -> Self:
        """Starts so many processes, at the same time."""
        await asyncio.gather(*(self.start_node() for _ in range(nodes)), *(self.start_worker() for _ in range(workers)))
        return self

    async def start_node(self, **settings: object) -> Node:
        """One more API process."""
        process = await self._start(Api, settings)
        alice, bob = [Requestor(process.url, token) for token in TOKENS]
        for requestor in (alice, bob):
            await self._requestors.enter_async_context(requestor)
        self.nodes.append(Node(process, alice, bob))
        return self.nodes[-1]

    async def start_worker(self, **settings: object) -> Worker:
        """One more worker."""
        self.workers.append(await self._start(Worker, settings))
        return self.workers[-1]

    @asynccontextmanager
    async def proxied_worker(self) -> AsyncIterator[tuple[Worker, Proxy]]:
        """One more worker, and the proxy between it and the store."""
        async with Proxy(self.store.socket) as proxy:
            worker = await self.start_worker(redis_url=proxy.url)
            try:
                yield worker, proxy
            finally:
                worker.kill()

    def worker_of(self, trace: Trace) -> Worker:
        """The worker that left a line of ground truth."""
        return next(worker for worker in self.workers if worker.pid == trace.pid)

    def open_gates(self, *names: str) -> None:
        """Lets the runs behind these gates end."""
        for name in names:
            (self.folder / name).touch()

    def traces(self, event: str, label: str | None = None) -> list[Trace]:
        """The ground truth so far: what is said of an event, perhaps of one label alone."""
        found = [Trace(**line) for line in read_lines(self.folder / "truth")]
        return [trace for trace in found if trace.event == event and label in (None, trace.label)]

    async def wait_for_trace(self, event: str, label: str, run: int = 1) -> Trace:
        """The line that says so of a run, when it is there."""
        found = await until(lambda: [trace for trace in self.traces(event, label) if trace.run == run])
        return found[0]

    async def wait_for_starts(self, labels: Iterable[str]) -> None:
        """Returns when each of these was started."""
        await until(lambda: {trace.label for trace in self.traces("start")}.issuperset(labels))

    async def _start(self, kind: Callable[..., Started], settings: dict[str, object]) -> Started:
        given = {"redis_url": self.store.url, **self.settings, **settings}
        folder = {"ACCEPTANCE_FOLDER": str(self.folder)}
        # A thread, since its start blocks, and may need what runs on this event loop; it lives as long as the loop.
        process = await asyncio.to_thread(kind, self._app, env=folder, **given)
        self._processes.append(process)
        return process
