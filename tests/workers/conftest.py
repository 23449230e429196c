"""The stages of these tests, and the check that no test leaves a key behind."""

from collections.abc import AsyncIterator, Iterator

import pytest
from structlog.testing import capture_logs

from tests.leaks import expire_all, find_leaks, find_remains
from tests.servers import Server, find_valkey, start_server
from tests.workers.stage import Logs, Stage


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = start_server(find_valkey(), tmp_path_factory.mktemp("valkey"), "--appendonly", "yes")
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def logs() -> Iterator[Logs]:
    """What is logged, kept from the output: tests make many errors."""
    with capture_logs() as lines:
        yield Logs(lines)


@pytest.fixture
async def stage(server: Server) -> AsyncIterator[Stage]:
    """On the embedded Valkey."""
    stage = Stage.open(server)
    yield stage
    _check_leaks(stage)
    await stage.close()


@pytest.fixture(params=["fakeredis", "valkey"])
async def any_stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    """On the embedded Valkey and on fakeredis."""
    stage = Stage.open(request.getfixturevalue("server") if request.param == "valkey" else None)
    yield stage
    _check_leaks(stage)
    await stage.close()


def _check_leaks(stage: Stage) -> None:
    assert find_leaks(stage.blocking, stage.keys) == []
    expire_all(stage.blocking, stage.keys, with_flags=stage.with_flags)
    assert find_remains(stage.blocking, stage.keys) == []
