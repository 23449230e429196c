"""Many tasks cost a page nothing: as many round trips as few do, replies of a bounded size, and no walk over keys."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.console.sites import ConsoleSite
from tests.console.stock import ADA, Stock
from tests.console.turns import Turns
from tests.processes import Valkey
from tests.scale.filling import Filler

TASKS = 50_000
MOST_TURNS = 5
MOST_BYTES = 262_144
OWNERS = [f"{number:032x}" for number in range(50)]

PAGES = {
    "overview": "/",
    "tasks": "/tasks",
    "failed ones": "/tasks?status=failed&status=cancelled&tool=draw",
    "of one owner": f"/tasks?owner={OWNERS[0]}&status=failed",
    "not of a tool": "/tasks?not_tool=draw&since=1h",
    "queues": "/queues",
    "workers": "/workers",
    "sessions": "/sessions",
    "audit": "/audit",
    "api overview": "/api/overview",
    "api tasks": "/api/tasks?status=failed",
}


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    with Valkey(tmp_path_factory.mktemp("full")) as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def filled(full: Valkey) -> AsyncIterator[Stock]:
    """A store with many tasks."""
    stock = Stock(full.url)
    sample = await stock.record(await stock.create("draw", owner=ADA))
    await Filler(stock.redis, sample, OWNERS).fill(TASKS)
    await stock.fail("the one that is looked for", "paint")
    yield stock
    await stock.close()


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def turns(full: Valkey, filled: Stock) -> AsyncIterator[Turns]:
    async with Turns(full.port) as turns:
        yield turns


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def large(turns: Turns) -> AsyncIterator[ConsoleSite]:
    """A console on that store, with a proxy between them that counts; started in a thread, since the proxy is ours."""
    site = await asyncio.to_thread(ConsoleSite, turns.url, console_write=True)
    yield site
    await asyncio.to_thread(site.kill)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("name", PAGES)
async def test_a_page_takes_few_round_trips(large: ConsoleSite, filled: Stock, turns: Turns, name: str) -> None:
    async with large.visit() as client:
        for _ in range(3):  # until all connections are there
            await client.get(PAGES[name])
        turns.count = turns.bytes = 0
        page = await client.get(PAGES[name])
    assert page.status_code == 200
    assert 0 < turns.count <= MOST_TURNS
    assert turns.bytes < MOST_BYTES
    assert len(page.content) < MOST_BYTES


async def test_one_task_takes_one(large: ConsoleSite, filled: Stock, turns: Turns) -> None:
    async with large.visit() as client:
        (found,) = (await client.get("/api/tasks?tool=paint&status=failed")).json()["tasks"]
        path = f"/tasks/{found['id']}"
        await client.get(path)
        turns.count = 0
        page = await client.get(path)
        assert "the one that is looked for" in page.text
        assert turns.count == 1


async def test_a_plan_for_a_thousand_is_a_few(large: ConsoleSite, filled: Stock, turns: Turns) -> None:
    async with large.visit() as client:
        client.headers["x-csrf-token"] = (await client.get("/api/session")).json()["csrf"]
        turns.count = 0
        planned = (await client.post("/api/bulk/purge", json={"status": "completed"})).json()
    assert (planned["count"], planned["is_capped"]) == (1000, True)
    assert turns.count <= MOST_TURNS


async def test_nothing_walks_over_keys(large: ConsoleSite, filled: Stock) -> None:
    stats = await filled.redis.info("commandstats")
    assert {"cmdstat_keys", "cmdstat_scan", "cmdstat_randomkey"} & stats.keys() == set()
