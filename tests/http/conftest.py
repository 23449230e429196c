"""The deployments that the tests speak to.  Each has a namespace of its own, on one server."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from redis.asyncio import Redis

from tests.apps.wire import GATES_DATABASE
from tests.forgeries import KEY, RSA_KEY
from tests.http.gates import Gates
from tests.http.requestor import PATIENCE_SECONDS, Requestor
from tests.issuer import AUDIENCE, Issuer
from tests.processes import Api, Valkey, Worker

APP = "tests.apps.wire:app"
NEWCOMERS = 100
TOKENS = {
    "alice-token": {"subject": "alice"},
    "alice-second-token": {"subject": "alice"},
    "bob-token": {"subject": "bob", "scopes": ["all"]},
    **{f"newcomer-{number}-token": {"subject": f"newcomer {number}"} for number in range(NEWCOMERS)},
}


STATIC_TOKENS = {"service-token": {"subject": "service", "scopes": ["all"]}, "static-alice-token": {"subject": "alice"}}


@dataclass(frozen=True)
class Issued:
    """An issuer, and two API processes that take its tokens."""

    issuer: Issuer
    first: Api
    second: Api

    @property
    def url(self) -> str:
        return f"{self.first.url}/mcp"

    @property
    def second_url(self) -> str:
        return f"{self.second.url}/mcp"


@dataclass(frozen=True)
class Deployment:
    """One API process and, unless nothing is to be run, one worker process."""

    api: Api
    worker: Worker | None

    @property
    def url(self) -> str:
        return f"{self.api.url}/mcp"


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    with Valkey(tmp_path_factory.mktemp("valkey")) as server:
        yield server


@pytest.fixture(scope="session")
def anonymous(valkey: Valkey) -> Iterator[Deployment]:
    """Knows no requestor from another."""
    with deploy(valkey, namespace="anonymous") as deployment:
        yield deployment


@pytest.fixture(scope="session")
def tokened(valkey: Valkey) -> Iterator[Deployment]:
    """Knows alice and bob by their tokens.  Its pages are short."""
    with deploy(valkey, namespace="tokened", auth_tokens=TOKENS, page_size=3) as deployment:
        yield deployment


@pytest.fixture(scope="session")
def unserved(valkey: Valkey) -> Iterator[Deployment]:
    """Has no worker and low limits."""
    limits = {"max_tasks_per_principal": 3, "default_ttl": 50_000, "min_ttl": 2_000, "max_ttl": 200_000}
    with serve(valkey, namespace="unserved", auth_tokens=TOKENS, max_body_bytes=4096, **limits) as api:
        yield Deployment(api, None)


@contextmanager
def deploy(valkey: Valkey, **settings: Any) -> Iterator[Deployment]:
    with serve(valkey, **settings) as api, Worker(APP, valkey.url, worker_concurrency=50, **settings) as worker:
        yield Deployment(api, worker)


@contextmanager
def serve(valkey: Valkey, **settings: Any) -> Iterator[Api]:
    """An API process, of which nothing that a requestor sends may leave a traceback."""
    with Api(APP, valkey.url, **settings) as api:
        yield api
        assert "Traceback" not in api.log, api.log


@pytest.fixture
async def http() -> AsyncIterator[httpx2.AsyncClient]:
    limits = httpx2.Limits(max_connections=None)
    # What it trusts is never asked, and slow to load.
    async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS, limits=limits, trust_env=False, verify=False) as client:
        yield client


@pytest.fixture
def requestor(http: httpx2.AsyncClient, anonymous: Deployment) -> Requestor:
    """A requestor of the anonymous deployment."""
    return Requestor(http, anonymous.url)


@pytest.fixture
def alice(http: httpx2.AsyncClient, tokened: Deployment) -> Requestor:
    return Requestor(http, tokened.url, "alice-token")


@pytest.fixture
def bob(http: httpx2.AsyncClient, tokened: Deployment) -> Requestor:
    return Requestor(http, tokened.url, "bob-token")


@pytest.fixture(scope="session")
def newcomers() -> Iterator[int]:
    return iter(range(NEWCOMERS))


@pytest.fixture
def newcomer(http: httpx2.AsyncClient, tokened: Deployment, newcomers: Iterator[int]) -> Requestor:
    """Someone who has no tasks yet."""
    return Requestor(http, tokened.url, f"newcomer-{next(newcomers)}-token")


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


@pytest.fixture(scope="session")
def issuer() -> Iterator[Issuer]:
    """Signs for ``issued``; its keys stay."""
    issuer = Issuer()
    issuer.add_key(KEY)
    issuer.add_key(RSA_KEY, "RS256")
    yield issuer
    issuer.close()


@pytest.fixture(scope="session")
def issued(valkey: Valkey, issuer: Issuer) -> Iterator[Issued]:
    """Two nodes that take tokens of an issuer, found by its metadata, and static ones."""
    app, namespace = "tests.apps.authorized:app", "issued"
    settings: dict[str, Any] = {
        "namespace": namespace,
        "auth_issuer": issuer.url,
        "auth_audience": AUDIENCE,
        "auth_tokens": STATIC_TOKENS,
    }
    with (
        Api(app, valkey.url, **settings) as first,
        Api(app, valkey.url, **settings) as second,
        Worker(app, valkey.url, namespace=namespace),
    ):
        yield Issued(issuer, first, second)
        for node in (first, second):
            assert "Traceback" not in node.log, node.log
