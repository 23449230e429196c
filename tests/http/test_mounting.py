"""The application under a path of another one (field report 3)."""

import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.http.conftest import Deployment
from tests.http.gates import Gates
from tests.http.requestor import Requestor
from tests.http.test_health import until_ready
from tests.processes import HOST, Site, Valkey, find_free_port, variables


def start_site(redis_url: str) -> Site:
    """``tests/apps/mounted.py``, on the tasks of the anonymous deployment."""
    port = find_free_port()
    command = [sys.executable, "-m", "uvicorn", "tests.apps.mounted:site", "--host", HOST, "--port", str(port)]
    settings = {"namespace": "anonymous", "redis_patience_seconds": 1}
    return Site(command, port, path="/", env=variables(redis_url, settings))


@pytest.fixture(scope="module")
def site(valkey: Valkey, anonymous: Deployment) -> Iterator[Site]:
    with start_site(valkey.url) as running:
        yield running


@pytest.fixture(params=["/tools", "/a/b"])
def root(request: pytest.FixtureRequest, site: Site) -> str:
    return f"{site.url}{request.param}"


async def test_a_task_from_beginning_to_end(http: httpx2.AsyncClient, root: str, gates: Gates, label: str) -> None:
    requestor = Requestor(http, f"{root}/mcp")
    assert (await requestor.result("initialize", {"protocolVersion": "2025-11-25"}))["serverInfo"]["name"] == "wire"
    task_id = await requestor.create("gated", label=label)
    async with requestor.waiting_for(task_id) as stream:
        await gates.open(label)
        assert label.encode() in await stream.answer()
    assert (await requestor.get(task_id))["status"] == "completed"


async def test_health_is_below_the_same_path(http: httpx2.AsyncClient, root: str, anonymous: Deployment) -> None:
    for path in ("/livez", "/readyz"):
        await until_ready(http, anonymous.api)
        response = await http.get(root + path)
        assert (response.status_code, response.json()) == (200, {"status": "ok"})


async def test_the_rest_is_the_outer_application(http: httpx2.AsyncClient, site: Site) -> None:
    assert (await http.get(site.url)).json() == "home"
    assert (await http.post(f"{site.url}/mcp")).status_code == 404


async def test_a_store_that_is_away_at_the_first_request(http: httpx2.AsyncClient, tmp_path: Path) -> None:
    """No lifespan could refuse the start: each request says so until the store is there."""
    port = find_free_port()
    with start_site(f"redis://{HOST}:{port}/0") as site:
        requestor = Requestor(http, f"{site.url}/tools/mcp")
        for _ in range(2):
            error = await requestor.error("tasks/get", {"taskId": "x"})
            assert (error["code"], error["data"]) == (-32603, {"reason": "unavailable", "retryAfterMs": 1000})
        assert "can't be reached" in site.log
        assert "Traceback" not in site.log
        with Valkey(tmp_path, port=port):
            assert (await requestor.error("tasks/get", {"taskId": "x"}))["message"] == "Task not found"
