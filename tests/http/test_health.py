"""/livez and /readyz, as far as it is not the store that ails; ``test_unavailable`` has that."""

import asyncio
from typing import Any

import httpx2
import pytest

from receiver.readiness import DRAINING, NO_WORKER
from tests.http.conftest import APP, Deployment
from tests.http.requestor import Requestor
from tests.processes import Api, Valkey, Worker


async def until_ready(http: httpx2.AsyncClient, api: Api) -> None:
    """A worker says that it has started before its first heartbeat is there."""
    while (await http.get(f"{api.url}/readyz")).status_code != 200:  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.02)


async def read_reason(http: httpx2.AsyncClient, api: Api) -> str:
    response = await http.get(f"{api.url}/readyz")
    assert response.status_code == 503, response.text
    assert response.json() == {"status": "unavailable", "reason": response.json()["reason"]}
    return str(response.json()["reason"])


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
async def test_all_is_well(http: httpx2.AsyncClient, tokened: Deployment, path: str) -> None:
    """No token is asked for."""
    await until_ready(http, tokened.api)
    response = await http.get(tokened.api.url + path)
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
async def test_only_get_is_served(http: httpx2.AsyncClient, anonymous: Deployment, path: str) -> None:
    assert (await http.post(anonymous.api.url + path)).status_code == 405


async def test_readiness_is_red_without_a_worker(http: httpx2.AsyncClient, valkey: Valkey) -> None:
    """Before there is one, and after it left; tasks are taken all the same."""
    settings: dict[str, Any] = {"namespace": "idle"}
    with Api(APP, valkey.url, **settings) as api:
        assert await read_reason(http, api) == NO_WORKER
        await Requestor(http, f"{api.url}/mcp").create("echo", text="x")
        worker = Worker(APP, valkey.url, **settings)
        await until_ready(http, api)
        await asyncio.to_thread(worker.terminate)
        assert await read_reason(http, api) == NO_WORKER
        assert (await http.get(f"{api.url}/livez")).status_code == 200


async def test_readiness_is_red_when_the_last_worker_fell_silent(http: httpx2.AsyncClient, valkey: Valkey) -> None:
    settings: dict[str, Any] = {"namespace": "silent", "lease_seconds": 1}
    with Api(APP, valkey.url, **settings) as api, Worker(APP, valkey.url, **settings) as worker:
        await until_ready(http, api)
        worker.kill()
        while (await http.get(f"{api.url}/readyz")).status_code == 200:  # noqa: ASYNC110 - its lease has to end
            await asyncio.sleep(0.02)
        assert await read_reason(http, api) == NO_WORKER


async def test_it_can_be_told_that_workers_may_be_none(http: httpx2.AsyncClient, valkey: Valkey) -> None:
    with Api(APP, valkey.url, namespace="scaled-to-zero", ready_without_workers=True) as api:
        assert (await http.get(f"{api.url}/readyz")).json() == {"status": "ok"}


async def test_it_is_red_while_the_node_drains_and_requests_are_still_served(
    http: httpx2.AsyncClient, valkey: Valkey
) -> None:
    settings: dict[str, Any] = {"namespace": "draining", "ready_without_workers": True, "drain_seconds": 3600}
    with Api(APP, valkey.url, **settings) as api:
        requestor = Requestor(http, f"{api.url}/mcp")
        task_id = await requestor.create("echo", text="x")
        async with requestor.waiting_for(task_id) as stream:
            api.ask_to_end()
            while (await http.get(f"{api.url}/readyz")).status_code == 200:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.02)
            assert await read_reason(http, api) == DRAINING
            assert (await http.get(f"{api.url}/livez")).status_code == 200
            newcomer = Requestor(http, f"{api.url}/mcp")  # by a new connection, and a new session
            await newcomer.result("tasks/cancel", {"taskId": task_id})
            assert b"Task was cancelled" in await stream.answer()
        assert await asyncio.to_thread(api.terminate) == 0  # a second signal ends the wait
        assert "Traceback" not in api.log
