"""A console of its own: with a hook that hides contents, on a store that goes away, and under another path."""

from pathlib import Path

from starlette.applications import Starlette
from starlette.testclient import TestClient

from ops.console.app import make_console
from ops.console.mounting import serve_alone
from receiver.settings import Settings
from tests.console.sites import ConsoleSite
from tests.console.stock import Stock
from tests.processes import Valkey

SECRET = "the number of the card"


async def test_what_a_hook_hides_is_shown_nowhere(valkey: Valkey, stock: Stock) -> None:
    task_id = await stock.fail(SECRET, "pay", arguments={"amount": "12.50"})
    run = await stock.start("pay")
    await stock.ask(run, SECRET)
    await stock.runs.report(run.task_id, run.run, {"progress_message": SECRET, "status_message": SECRET})
    with ConsoleSite(valkey.url, redact="tests.console.redacting:hide") as site:
        async with site.visit() as client:
            for path in ("/tasks", f"/tasks/{task_id}", f"/tasks/{run.task_id}"):
                for prefix in ("", "/api"):
                    page = await client.get(prefix + path)
                    assert page.status_code == 200
                    assert SECRET not in page.text
            assert "12.50" in (await client.get(f"/tasks/{task_id}")).text
            assert "(hidden)" in (await client.get(f"/tasks/{task_id}")).text


async def test_a_store_that_is_away_is_told_in_the_same_look(tmp_path: Path) -> None:
    with Valkey(tmp_path) as store, ConsoleSite(store.url) as site:
        async with site.visit() as client:
            assert (await client.get("/")).status_code == 200
            store.kill()
            for path in ("/", "/tasks", "/queues", "/workers", "/sessions", "/audit"):
                page = await client.get(path)
                assert page.status_code == 503, path
                assert "The store can&#39;t be reached" in page.text
                assert "<nav aria-label" in page.text
            answer = await client.get("/api/overview")
            assert (answer.status_code, answer.json()) == (503, {"error": "The store can't be reached"})
            doctor = await client.get("/doctor")
            assert doctor.status_code == 200, "it is asked just then"
            assert '<span class="chip failed">error</span>' in doctor.text
        assert "Traceback" not in site.log


async def test_a_live_page_of_no_task_is_none(site: ConsoleSite) -> None:
    async with site.visit() as client:
        assert (await client.get("/live?task=nonsense")).status_code == 404


async def test_a_console_ends_its_streams_with_its_process(valkey: Valkey) -> None:
    with ConsoleSite(valkey.url) as site:
        async with site.visit() as client, client.stream("GET", "/live") as live:
            lines = live.aiter_lines()
            assert await anext(lines) == ": hello"
            assert site.terminate() == 0


def test_it_can_be_mounted_below_another_path(valkey: Valkey) -> None:
    settings = Settings(redis_url=valkey.url)
    console = make_console(settings, is_local=True)
    assert console is not None
    outer = Starlette()
    outer.mount("/deep", serve_alone(console))
    with TestClient(outer, base_url="http://localhost") as client:
        assert client.get("/deep/console", follow_redirects=False).headers["location"] == "/deep/console/"
        page = client.get("/deep/console/tasks")
        assert 'href="/deep/console/static/console.css"' in page.text
        assert client.get("/deep/console/static/console.css").status_code == 200
        assert "Path=/deep/console;" in page.headers["set-cookie"]
