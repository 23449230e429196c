"""Our own server with the fixture tools: two nodes and two workers on one store."""

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack

import httpx2
import pytest
import pytest_asyncio

from ops.conform.runner import open_client, survey
from ops.conform.server import Target
from tests.conformance.scene import APP, SETTINGS, TOKENS
from tests.processes import Api, Valkey, Worker


@pytest.fixture(scope="session")
def urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Where both nodes are.  Settings are as they come, but for who may ask, and a limit that a check can reach."""
    with ExitStack() as stack:
        valkey = stack.enter_context(Valkey(tmp_path_factory.mktemp("valkey")))
        nodes = [stack.enter_context(Api(APP, valkey.url, **SETTINGS)) for _ in range(2)]
        for _ in range(2):
            stack.enter_context(Worker(APP, valkey.url, **SETTINGS))
        yield [f"{node.url}/mcp" for node in nodes]
        for node in nodes:
            assert "Traceback" not in node.log, node.log


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http() -> AsyncIterator[httpx2.AsyncClient]:
    # What it trusts is never asked, and slow to load.  These servers keep connections longer than a test takes; a check
    # that is cancelled while the client closes an old one would leave a socket open.
    async with open_client(keep_alive=None, trust_env=False, verify=False) as client:
        yield client


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def target(urls: list[str], http: httpx2.AsyncClient) -> Target:
    """The server, as the suite sees it."""
    return await survey(http, urls, tuple(TOKENS))
