"""Whatever somebody put into a name, an argument, an error or a result is shown as the text that it is."""

from typing import Any
from urllib.parse import quote

import pytest
from playwright.async_api import Page, expect

from tests.console.sites import ConsoleSite
from tests.console.stock import Stock

PAYLOADS = {
    "script": "<script>window.pwned = 1</script>",
    "image": '<img src=x onerror="window.pwned = 1">',
    "quote": "\" autofocus onfocus=window.pwned=1 x='",
    "end of script": "</script></pre></textarea><svg onload=window.pwned=1>",
    "link": "javascript:window.pwned=1",
    "template": "{{ 7 * 7 }}{% raw %}${window.pwned = 1}",
    "htmx": '<div hx-get="/console/" hx-trigger="load" hx-on:load="window.pwned = 1"></div>',
    "odd characters": "\u202e\u0000\x1b[31m\r\n\ud7ff\ufffe",
}


@pytest.mark.parametrize("name", PAYLOADS)
async def test_no_script_of_somebody_else_runs(page: Page, site: ConsoleSite, stock: Stock, name: str) -> None:
    payload = PAYLOADS[name]
    tool = payload.replace("\x00", "")
    result: dict[str, Any] = {
        "content": [{"type": "text", "text": payload}],
        "structuredContent": {payload: payload},
        "isError": True,
    }
    failed = await stock.finish(tool, result, arguments={payload: payload}, owner="o" * 8 + payload[:8])
    run = await stock.start(tool, worker=f"w {tool}")
    await stock.ask(run, payload)
    said: dict[str, Any] = {"progress": 1, "progress_total": 2, "progress_message": payload, "status_message": payload}
    await stock.runs.report(run.task_id, run.run, said)
    await stock.create(tool, queue=f"queue {tool}")
    await show_processes(stock, payload)
    for path in ("/", "/tasks", f"/tasks/{failed}", f"/tasks/{run.task_id}", "/queues", "/workers"):
        await page.goto(site.root + path)
        await expect(page.locator("h1")).to_be_visible()
        await expect(page.locator("#pulse")).to_have_text("live")
        assert await page.evaluate("window.pwned === undefined")
        assert await page.evaluate("window.violations") == []
    for path in ("/tasks", "/audit", "/sessions"):
        for word in ("tool", "not_tool", "owner", "since", "status", "kind", "after", "before", "task", "who"):
            await page.goto(f"{site.root}{path}?{word}={encode(payload)}")
            await expect(page.locator("h1")).to_be_visible()
    await page.goto(f"{site.root}/tasks/find?id={encode(payload)}")
    await page.goto(f"{site.root}/{encode(payload)}")
    await expect(page.locator("h1")).to_have_text("Not found")


async def test_what_is_shown_is_what_was_sent(page: Page, site: ConsoleSite, stock: Stock) -> None:
    payload = PAYLOADS["image"]
    task_id = await stock.fail(payload, "draw", arguments={"shape": payload})
    await page.goto(f"{site.root}/tasks/{task_id}")
    await expect(page.locator(".note.failed")).to_have_text(f"Why: {payload}")
    assert payload.replace('"', '\\"') in await page.locator("#arguments").inner_text()


async def test_large_and_broken_contents_are_shown_in_part(page: Page, site: ConsoleSite, stock: Stock) -> None:
    task_id = await stock.finish("draw", {"content": [{"type": "text", "text": "x" * 2_000_000}]})
    await stock.redis.hset(stock.keys.task(task_id), mapping={"params": b"\xff{", "principal": b"not JSON"})
    await page.goto(f"{site.root}/tasks/{task_id}")
    await expect(page.locator("#result")).to_contain_text("more characters")
    assert len(await page.content()) < 100_000


async def show_processes(stock: Stock, payload: str) -> None:
    """A worker and a node that call themselves so."""
    now: dict[str, Any] = {"started_at": 1, "seen_at": 2, "lease": 600_000, "pid": 1}
    now |= dict.fromkeys(("host", "app", "version", "queues", "url"), payload)
    for many, one in ((stock.keys.workers, stock.keys.worker), (stock.keys.nodes, stock.keys.node)):
        await stock.redis.hset(one(payload), mapping=now)
        await stock.redis.zadd(many(), {payload: 9e12})


def encode(text: str) -> str:
    return quote(text, safe="")
