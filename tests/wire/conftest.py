"""Deployments of two nodes and two workers on one store."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from redis.asyncio import Redis

from tests.apps.wire import GATES_DATABASE
from tests.http.gates import Gates
from tests.processes import Api, Valkey, Worker
from tests.wire.client import PATIENCE_SECONDS, Client

APP = "tests.apps.talk:app"
NEWCOMERS = 100
TOKENS = {
    "alice-token": {"subject": "alice"},
    "bob-token": {"subject": "bob"},
    **{f"newcomer-{number}-token": {"subject": f"newcomer {number}"} for number in range(NEWCOMERS)},
}


@dataclass(frozen=True)
class Site:
    """A deployment: its nodes, its workers, and the first word of its keys."""

    nodes: list[Api]
    workers: list[Worker]
    namespace: str

    @property
    def urls(self) -> list[str]:
        """Where clients speak to it."""
        return [f"{node.url}/mcp" for node in self.nodes]


@contextmanager
def deploy(valkey: Valkey, *, namespace: str, app: str = APP, workers: int = 2, **settings: Any) -> Iterator[Site]:
    """Two nodes, in whose logs nothing that a requestor sends may leave a traceback, and some workers."""
    settings = {"auth_tokens": TOKENS, "worker_concurrency": 20, **settings, "namespace": namespace}
    with ExitStack() as stack:
        nodes = [stack.enter_context(Api(app, valkey.url, **settings)) for _ in range(2)]
        running = [stack.enter_context(Worker(app, valkey.url, **settings)) for _ in range(workers)]
        yield Site(nodes, running, namespace)
        for node in nodes:
            assert "Traceback" not in node.log, node.log


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    with Valkey(tmp_path_factory.mktemp("valkey")) as server:
        yield server


@pytest.fixture(scope="session")
def site(valkey: Valkey) -> Iterator[Site]:
    with deploy(valkey, namespace="site") as site:
        yield site


@pytest.fixture
async def http() -> AsyncIterator[httpx2.AsyncClient]:
    limits = httpx2.Limits(max_connections=None)
    # What it trusts is never asked, and slow to load.
    async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS, limits=limits, trust_env=False, verify=False) as client:
        yield client


@pytest.fixture
def connect(http: httpx2.AsyncClient, site: Site) -> Callable[[str], Client]:
    """Makes a client of the site for a token; it has no session yet."""
    return lambda token: Client(http, site.urls, token)


@pytest.fixture
def alice(connect: Callable[[str], Client]) -> Client:
    return connect("alice-token")


@pytest.fixture
def bob(connect: Callable[[str], Client]) -> Client:
    return connect("bob-token")


@pytest.fixture
async def gates(valkey: Valkey) -> AsyncIterator[Gates]:
    url = urlsplit(valkey.url)._replace(path=f"/{GATES_DATABASE}").geturl()
    async with Redis.from_url(url) as redis:
        yield Gates(redis)


@pytest.fixture
async def redis(valkey: Valkey) -> AsyncIterator[Redis]:
    """The store of all of them."""
    async with Redis.from_url(valkey.url) as connection:
        yield connection


@pytest.fixture
def label(request: pytest.FixtureRequest) -> str:
    """The name of a gate that is this test's alone."""
    return str(request.node.nodeid)
