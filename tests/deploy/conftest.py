"""The servers that the users of ``ops/deploy/redis`` are tried on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.conftest import deploy as deploy  # the fixture
from tests.deploy.guarded import GuardedServer
from tests.servers import find_redis, find_valkey


@pytest.fixture(params=["valkey", "redis"])
def guarded(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GuardedServer]:
    """A server with users, of both makes."""
    binary = find_valkey() if request.param == "valkey" else find_redis()
    if binary is None:
        pytest.skip("no redis-server on PATH")
    with GuardedServer(binary, tmp_path / "store") as server:
        yield server
