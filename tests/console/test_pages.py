"""What pages and the API say, page by page, without a browser."""

import html
import re
from typing import Any

import pytest
from httpx2 import AsyncClient

from tests.console.sites import ConsoleSite, csrf_of
from tests.console.stock import ADA, BOB, Stock
from tests.processes import Valkey

EMPTY = "0-" + "e" * 32


def ids_of(text: str) -> list[str]:
    """The tasks that a list shows."""
    return list(dict.fromkeys(re.findall(r'href="/console/tasks/(0-[0-9a-f]{32})"', text)))


async def fill(stock: Stock) -> dict[str, str]:
    return {
        "waiting": await stock.create("draw"),
        "running": (await stock.start("draw", owner=BOB)).task_id,
        "done": await stock.finish("paint"),
        "failed": await stock.fail("the colour is gone", "paint", owner=BOB),
        "cancelled": await stock.cancel("carve"),
        "call": await stock.create("draw", kind="call", queue="plain"),
    }


FILTERS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "none": ({}, {"waiting", "running", "done", "failed", "cancelled"}),
    "one status": ({"status": "failed"}, {"failed"}),
    "several": ({"status": ["failed", "cancelled"]}, {"failed", "cancelled"}),
    "a tool": ({"tool": "draw"}, {"waiting", "running"}),
    "tools": ({"tool": "draw, carve"}, {"waiting", "running", "cancelled"}),
    "not a tool": ({"not_tool": "paint"}, {"waiting", "running", "cancelled"}),
    "an owner": ({"owner": BOB}, {"running", "failed"}),
    "owner and status": ({"owner": BOB, "status": "failed"}, {"failed"}),
    "since": ({"since": "1h"}, {"waiting", "running", "done", "failed", "cancelled"}),
    "since later": ({"since": "2100-01-01"}, set()),
    "calls": ({"kind": "call"}, {"call"}),
    "both": ({"kind": "any", "tool": "draw"}, {"waiting", "running", "call"}),
}


@pytest.mark.parametrize("name", FILTERS)
async def test_a_filter_in_the_url_shows_what_it_says(site: ConsoleSite, stock: Stock, name: str) -> None:
    words, wanted = FILTERS[name]
    tasks = await fill(stock)
    async with site.visit() as client:
        page = await client.get("/tasks", params=words)
        found = (await client.get("/api/tasks", params=words)).json()
    assert set(ids_of(page.text)) == {tasks[it] for it in wanted}
    assert {task["id"] for task in found["tasks"]} == {tasks[it] for it in wanted}
    is_counted = not {"owner", "status"} <= words.keys()
    assert found["total"] == ({"an owner": 2}.get(name, len(wanted)) if is_counted else None)


async def test_a_filter_that_means_nothing_is_named(site: ConsoleSite, stock: Stock) -> None:
    await stock.create()
    async with site.visit() as client:
        page = await client.get("/tasks", params={"status": "sleeping"})
        assert page.status_code == 200
        assert "&#39;sleeping&#39; is no status" in page.text
        answer = await client.get("/api/tasks", params={"status": "sleeping"})
        assert answer.status_code == 400
        assert "sleeping" in answer.json()["error"]


async def test_pages_follow_each_other_newest_first(site: ConsoleSite, stock: Stock) -> None:
    ids = [await stock.create() for _ in range(7)]
    seen: list[str] = []
    async with site.visit() as client:
        url = "/tasks?limit=3"
        for _ in range(3):
            page = await client.get(url)
            seen += ids_of(page.text)
            following = re.search(r'rel="next" href="/console([^"]+)"', page.text)
            url = html.unescape(following[1]) if following else ""
    newest = {task_id: (int((await stock.record(task_id))["updated_at"]), task_id) for task_id in ids}
    assert seen == sorted(ids, key=lambda task_id: newest[task_id], reverse=True)
    assert url == ""


async def test_the_overview_counts(site: ConsoleSite, stock: Stock) -> None:
    await fill(stock)
    async with site.visit() as client:
        page = (await client.get("/")).text
        found = (await client.get("/api/overview")).json()
    assert found["counts"] == {"working": 2, "input_required": 0, "completed": 1, "failed": 1, "cancelled": 1}
    assert {queue["name"]: queue["ready"] for queue in found["queues"]} == {"default": 1, "plain": 1}
    assert len(found["minutes"]) == 60
    assert sum(minute["created"] for minute in found["minutes"]) == 5
    assert sum(minute["failed"] for minute in found["minutes"]) == 1
    for status, count in found["counts"].items():
        assert re.search(rf'status={status}".*?<strong>{count}</strong>', page, re.DOTALL)
    assert "staging" in page


async def test_a_task_tells_all_of_it(site: ConsoleSite, stock: Stock) -> None:
    run = await stock.start("draw", arguments={"shape": "circle"})
    await stock.ask(run, "Which colour?")
    await stock.remember(run, "mix#1", b'"green"')
    async with site.visit() as client:
        page = (await client.get(f"/tasks/{run.task_id}")).text
        found = (await client.get(f"/api/tasks/{run.task_id}")).json()
    for said in ("draw", "circle", "Which colour?", "mix#1", run.task_id, ADA, "input required", "started", "asked"):
        assert said in page
    assert [it["event"] for it in found["timeline"]] == ["created", "queued", "started", "asked"]


async def test_a_task_leads_to_its_trace(valkey: Valkey, stock: Stock) -> None:
    run = await stock.start("draw")
    await stock.redis.hset(stock.keys.task(run.task_id), "trace", f"00-{'4b' * 16}-{'a1' * 8}-01")
    with ConsoleSite(valkey.url, trace_url="https://tempo.example/trace/{trace_id}") as site:
        async with site.visit() as client:
            page = (await client.get(f"/tasks/{run.task_id}")).text
    assert f'<a href="https://tempo.example/trace/{"4b" * 16}" rel="noreferrer">' in page


async def test_why_a_task_failed_stands_first(site: ConsoleSite, stock: Stock) -> None:
    task_id = await stock.fail("the colour is gone")
    async with site.visit() as client:
        page = (await client.get(f"/tasks/{task_id}")).text
    assert "<strong>Why:</strong> the colour is gone" in page


async def test_a_retry_links_both(site: ConsoleSite, stock: Stock) -> None:
    old = await stock.fail(max_attempts=1)
    async with site.visit() as client:
        csrf = csrf_of(page := await client.get(f"/tasks/{old}/retry"))
        assert "may be run only once" in page.text
        refused = await client.post(f"/tasks/{old}/retry", data={"csrf": csrf})
        assert refused.status_code == 409
        assert "may be run only once" in refused.text
        done = await client.post(f"/tasks/{old}/retry", data={"csrf": csrf, "force": "1"})
        new = done.headers["location"].removeprefix("/console/tasks/").partition("?")[0]
        assert old in (await client.get(f"/tasks/{new}")).text
        assert new in (await client.get(f"/tasks/{old}")).text
    assert (await stock.record(new))["retry_of"] == old


async def test_a_purge_removes_a_finished_task_only(site: ConsoleSite, stock: Stock) -> None:
    done, waiting = await stock.finish(), await stock.create()
    async with site.visit() as client:
        csrf = csrf_of(await client.get(f"/tasks/{done}/purge"))
        refused = await client.post(f"/tasks/{waiting}/purge", data={"csrf": csrf})
        assert refused.status_code == 409
        answer = await client.post(f"/tasks/{done}/purge", data={"csrf": csrf})
        assert answer.headers["location"] == "/console/tasks?done=purged"
    assert await stock.record(done) == {}
    assert await stock.record(waiting) != {}


@pytest.mark.parametrize("path", [f"/tasks/{EMPTY}", "/tasks/nonsense", "/tasks/%2e%2e", "/nowhere", "/jobs/x"])
async def test_what_is_not_there_is_said_in_the_same_look(site: ConsoleSite, path: str) -> None:
    async with site.visit() as client:
        page = await client.get(path)
    assert page.status_code == 404
    assert "<nav aria-label" in page.text


async def test_the_id_box_leads_to_a_task(site: ConsoleSite) -> None:
    async with site.visit() as client:
        found = await client.get("/tasks/find", params={"id": f" {EMPTY} "})
        assert (found.status_code, found.headers["location"]) == (303, f"/console/tasks/{EMPTY}")
        assert (await client.get("/tasks/find", params={"id": "*"})).status_code == 404


@pytest.mark.parametrize("path", ["/sessions?after=nonsense", "/audit?before=nonsense", "/sessions?after=nan/x"])
async def test_a_place_that_is_none_is_a_bad_request(site: ConsoleSite, path: str) -> None:
    async with site.visit() as client:
        assert (await client.get(path)).status_code == 400
        assert (await client.get("/api" + path)).status_code == 400


async def plan(client: AsyncClient, action: str, **form: Any) -> str:
    """The page that asks for confirmation."""
    csrf = csrf_of(await client.get("/tasks"))
    page = await client.post("/tasks/bulk/confirm", data={"csrf": csrf, "action": action, **form})
    assert page.status_code == 200
    return page.text


def form_of(page: str) -> dict[str, str]:
    """The hidden fields of a page's form."""
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page))


async def finish_job(client: AsyncClient, location: str) -> dict[str, Any]:
    path = location.removeprefix("/console")
    while not (job := (await client.get(f"/api{path}")).json())["is_over"]:
        pass
    assert "Done." in (await client.get(path)).text
    found: dict[str, Any] = job
    return found


async def test_a_bulk_action_names_its_count_and_does_just_that(site: ConsoleSite, stock: Stock) -> None:
    wanted = [await stock.create("draw") for _ in range(30)]
    other = await stock.create("paint")
    async with site.visit() as client:
        now = form_of((await client.get("/tasks")).text)["frozen_at"]
        later = await stock.create("draw")
        await stock.redis.hset(stock.keys.task(later), "updated_at", int(now) + 60_000)
        await stock.redis.zadd(stock.keys.status("working", "task:draw"), {later: int(now) + 60_000})
        page = await plan(client, "cancel", of="filter", tool="draw", frozen_at=now)
        assert "Cancel 30 tasks?" in page
        assert "1\u2009000 tasks at most" in page
        started = await client.post("/tasks/bulk", data=form_of(page.split("<form method", 1)[1]))
        job = await finish_job(client, started.headers["location"])
    assert job["outcomes"] == {"cancelled": 30}
    for task_id in wanted:
        assert (await stock.record(task_id))["status"] == "cancelled"
    assert (await stock.record(other))["status"] == "working"
    assert (await stock.record(later))["status"] == "working"


async def test_only_what_was_ticked_is_touched(site: ConsoleSite, stock: Stock) -> None:
    ids = [await stock.finish() for _ in range(4)]
    async with site.visit() as client:
        page = await plan(client, "purge", of="ticked", id=ids[:2])
        assert "Purge 2 tasks?" in page
        form = form_of(page.split("<form method", 1)[1])
        wrong = await client.post("/tasks/bulk", data={**form, "count": "3"})
        assert wrong.status_code == 409
        started = await client.post("/tasks/bulk", data=form)
        job = await finish_job(client, started.headers["location"])
    assert job["outcomes"] == {"purged": 2}
    assert [bool(await stock.record(task_id)) for task_id in ids] == [False, False, True, True]


async def test_nothing_ticked_is_nothing_to_do(site: ConsoleSite, stock: Stock) -> None:
    await stock.create()
    async with site.visit() as client:
        assert "Nothing to cancel" in await plan(client, "cancel", of="ticked")
        assert "Nothing to purge" in await plan(client, "purge", of="filter", tool="draw")


async def test_the_api_acts_when_it_is_told_the_count(site: ConsoleSite, stock: Stock) -> None:
    for _ in range(3):
        await stock.fail()
    async with site.visit() as client:
        client.headers["x-csrf-token"] = (await client.get("/api/session")).json()["csrf"]
        form = {"status": "failed", "tool": "draw"}
        planned = (await client.post("/api/bulk/retry", json=form)).json()
        assert (planned["count"], planned["is_capped"]) == (3, False)
        assert (await client.post("/api/bulk/retry", json={**form, "count": 2})).status_code == 409
        started = await client.post("/api/bulk/retry", json={**form, "count": 3})
        assert started.status_code == 202
        job = await finish_job(client, f"/console/jobs/{started.json()['id']}")
        assert job["outcomes"] == {"retried": 3}
        none = await client.post("/api/bulk/cancel", json={"ids": []})
        assert none.json()["count"] == 0, "no ids are not all of them"
        assert (await client.post("/api/bulk/explode", json=form)).status_code == 404


async def test_an_action_that_does_not_exist_is_not_found(site: ConsoleSite, stock: Stock) -> None:
    task_id = await stock.create()
    async with site.visit() as client:
        assert (await client.get(f"/tasks/{task_id}/explode")).status_code == 404
        page = await client.get(f"/tasks/{task_id}/purge")
        assert "there is nothing to purge" in page.text


async def test_acts_and_their_authors_are_in_the_log(site: ConsoleSite, stock: Stock) -> None:
    task_id = await stock.create()
    async with site.visit() as client:
        csrf = csrf_of(await client.get(f"/tasks/{task_id}/cancel"))
        await client.post(f"/tasks/{task_id}/cancel", data={"csrf": csrf})
    site.wait_for_log(task_id)
    (line,) = [line for line in site.log.splitlines() if task_id in line]
    assert "local" in line
