"""The console in a real browser: pages, live updates, acts; by keyboard, on a phone, in the dark, without scripts."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.async_api import Browser, BrowserContext, Page, Route, expect

from tests.console.browser import watch
from tests.console.scenery import paint
from tests.console.sites import OPERATOR, ConsoleSite
from tests.console.stock import BOB, Stock
from tests.http.gates import Gates
from tests.processes import Api, Valkey, Worker

PAGES = (
    *("/", "/tasks", "/queues", "/workers", "/sessions", "/audit", "/doctor", "/tasks/{id}", "/tasks/{id}/cancel"),
    *("/login", "/nowhere"),
)
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
PHONE: Any = {"width": 360, "height": 740}


async def go(page: Page, site: ConsoleSite, path: str = "/") -> None:
    await page.goto(site.root + path)


async def is_live(page: Page) -> None:
    """Returns when the page hears of changes."""
    await expect(page.locator("#pulse")).to_have_text("live")


async def go_live(page: Page, site: ConsoleSite, path: str = "/") -> None:
    """Opens a page, and waits until it was read once more, which it is when it has begun to listen."""
    async with page.expect_response(lambda answer: answer.request.resource_type == "xhr"):
        await go(page, site, path)


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_is_accessible_in_light_and_dark(
    page: Page, site: ConsoleSite, stock: Stock, packages: Path, path: str
) -> None:
    shown = await paint(stock)
    axe = (packages / "axe-core" / "axe.min.js").read_text()
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        await page.emulate_media(color_scheme=scheme)
        await go(page, site, path.format(id=shown))
        await page.evaluate(axe)
        found = await page.evaluate("rules => axe.run(document, rules)", RULES)
        assert [(it["id"], [node["html"] for node in it["nodes"]][:3]) for it in found["violations"]] == []


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_fits_on_a_phone(browser: Browser, site: ConsoleSite, stock: Stock, path: str) -> None:
    shown = await paint(stock)
    context = await browser.new_context(viewport=PHONE, is_mobile=True, has_touch=True, device_scale_factor=2)
    page = await context.new_page()
    await go(page, site, path.format(id=shown))
    width = await page.evaluate("document.documentElement.scrollWidth")
    assert width == PHONE["width"]
    assert await page.evaluate("document.querySelector('#main').getBoundingClientRect().width") <= PHONE["width"]
    await context.close()


async def test_filters_are_in_the_url(page: Page, site: ConsoleSite, stock: Stock) -> None:
    failed = await stock.fail("no more paper", "print")
    await stock.finish("print")
    await stock.fail("no ink", "draw", owner=BOB)
    await go(page, site, "/tasks")
    await expect(page.locator("table.tasks tbody tr")).to_have_count(3)
    await page.get_by_role("checkbox", name=re.compile("failed")).check()
    await page.get_by_label("Not tool").fill("draw")
    await page.get_by_role("button", name="Apply").click()
    await expect(page.locator("table.tasks tbody tr")).to_have_count(1)
    assert "status=failed" in page.url
    assert "not_tool=draw" in page.url
    assert "owner=" not in page.url, "what was left empty is not in it"
    await expect(page.locator("table.tasks .said")).to_have_text("no more paper")
    await page.reload()
    await expect(page.get_by_role("checkbox", name=re.compile("failed"))).to_be_checked()
    await page.locator(f'a[href$="{failed}"]').click()
    await expect(page.locator(".note.failed")).to_have_text("Why: no more paper")


async def test_a_task_that_runs_is_seen_to_move_and_end(page: Page, site: ConsoleSite, stock: Stock) -> None:
    run = await stock.start("render")
    await go(page, site, f"/tasks/{run.task_id}")
    await is_live(page)
    await page.evaluate("window.mark = 1")
    said: dict[str, Any] = {"progress": 3, "progress_total": 8, "progress_message": "page 3"}
    await stock.runs.report(run.task_id, run.run, said)
    await expect(page.locator(".panel.progress")).to_contain_text("3 of 8")
    await stock.end(run, "eight pages")
    await expect(page.locator("h1 .chip")).to_have_text("completed")
    await expect(page.locator("#result")).to_contain_text("eight pages")
    assert await page.evaluate("window.mark") == 1, "the page was not loaded anew"


async def test_counts_and_lists_move_by_themselves(page: Page, site: ConsoleSite, stock: Stock) -> None:
    await go(page, site, "/")
    await is_live(page)
    await expect(page.locator(".tile.working strong")).to_have_text("0")
    await expect(page.locator("#chart-throughput canvas")).to_have_count(1)
    await stock.create("draw")
    await expect(page.locator(".tile.working strong")).to_have_text("1")
    await expect(page.locator("#chart-throughput canvas")).to_have_count(1)
    await go(page, site, "/tasks")
    await is_live(page)
    await stock.create("paint")
    await expect(page.locator("table.tasks tbody tr")).to_have_count(2)


async def test_a_hidden_page_is_not_updated_until_it_is_seen(page: Page, site: ConsoleSite, stock: Stock) -> None:
    await go_live(page, site)
    hide = """hidden => {
      Object.defineProperty(document, "hidden", {configurable: true, get: () => hidden});
      document.dispatchEvent(new Event("visibilitychange"));
    }"""
    await page.evaluate(hide, True)
    await expect(page.locator("#pulse")).to_have_text("paused")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    await stock.create()
    async with site.visit() as client, client.stream("GET", "/live") as live:
        looks = (line async for line in live.aiter_lines() if line == "event: look")
        await anext(looks)
        await stock.create()
        await anext(looks)
    assert requests == [], "others were told by now"
    await page.evaluate(hide, False)
    await expect(page.locator(".tile.working strong")).to_have_text("2")
    await is_live(page)


async def test_a_tick_is_not_lost_to_an_update(page: Page, site: ConsoleSite, stock: Stock) -> None:
    first = await stock.create("draw")
    await go(page, site, "/tasks")
    await is_live(page)
    await page.get_by_label(f"Tick {first}").check()
    await page.evaluate("""
      const live = new EventSource(document.getElementById("live").dataset.live);
      live.addEventListener("look", () => { document.body.dataset.looks = (document.body.dataset.looks ?? "") + "I"; });
    """)
    await expect(page.locator("body")).to_have_attribute("data-looks", "I")
    await stock.create("paint")
    await expect(page.locator("body")).to_have_attribute("data-looks", re.compile("II+"))
    await expect(page.get_by_label(f"Tick {first}")).to_be_checked()
    await expect(page.locator("table.tasks tbody tr")).to_have_count(1)
    await page.get_by_label(f"Tick {first}").uncheck()
    await stock.create("paint")
    await expect(page.locator("table.tasks tbody tr")).to_have_count(3)


async def test_a_running_task_is_cancelled_after_a_confirmation(
    page: Page, valkey: Valkey, stock: Stock, gates: Gates
) -> None:
    """From the page to the tool's own code, on a real node and a real worker."""
    app = "tests.apps.wire:app"
    with Api(app, valkey.url, console_write=True) as api, Worker(app, valkey.url):
        task_id = await create_by_wire(api, "gated", label="console")
        await gates.reached("console")
        await page.goto(f"{api.url}/console/tasks/{task_id}")
        await is_live(page)
        await page.get_by_role("link", name="Cancel…").click()
        await expect(page.get_by_role("heading")).to_have_text("Cancel this task?")
        assert (await stock.record(task_id))["status"] == "working"
        await page.get_by_label("What its requestor reads").fill("Not wanted any more")
        await page.get_by_role("button", name="Cancel the task").click()
        await expect(page.locator("h1 .chip")).to_have_text("cancelled")
        await expect(page.locator(".note")).to_contain_text("Not wanted any more")
        await gates.stopped("console")
        await page.goto("about:blank")


async def create_by_wire(api: Api, tool: str, **arguments: Any) -> str:
    """Creates a task as clients do."""
    import httpx2

    from tests.http.requestor import Requestor

    async with httpx2.AsyncClient(trust_env=False, verify=False, timeout=20) as http:
        return await Requestor(http, f"{api.url}/mcp").create(tool, **arguments)


async def test_bulk_in_the_browser(page: Page, site: ConsoleSite, stock: Stock) -> None:
    for _ in range(12):
        await stock.fail("no", "print")
    await stock.fail("no", "draw")
    await go(page, site, "/tasks?tool=print")
    await page.get_by_label("all that match").check()
    await page.get_by_role("button", name="Purge…").click()
    await expect(page.get_by_role("heading")).to_have_text("Purge 12 tasks?")
    await page.get_by_role("button", name="Purge 12 tasks").click()
    await expect(page.locator("#job [role=status]")).to_contain_text("12 of 12")
    await expect(page.locator("#job [role=status]")).to_contain_text("Done.")
    await go(page, site, "/tasks")
    await expect(page.locator("table.tasks tbody tr")).to_have_count(1)
    await page.get_by_label("Tick all on this page").check()
    await page.get_by_role("button", name="Retry…").click()
    await expect(page.get_by_role("heading")).to_have_text("Retry 1 task?")


async def test_an_update_on_its_way_takes_no_choice_away(page: Page, site: ConsoleSite, stock: Stock) -> None:
    await stock.fail("no", "print")
    await go(page, site, "/tasks?tool=print")
    arrived = asyncio.Event()
    chosen = asyncio.Event()

    async def hold(route: Route) -> None:
        arrived.set()
        await chosen.wait()
        await route.continue_()

    await page.route("**/tasks?tool=print", hold)
    await stock.fail("no", "print")
    await page.evaluate("""
        window.updated = new Promise(done => document.addEventListener("htmx:afterRequest", done, {once: true}))
            .then(() => true);
        htmx.trigger(document.getElementById("live"), "look");
    """)
    await arrived.wait()
    await page.get_by_label("all that match").check()
    chosen.set()
    assert await page.evaluate("window.updated")
    await expect(page.get_by_label("all that match")).to_be_checked()


async def test_a_read_only_page_can_do_nothing(page: Page, readonly: ConsoleSite, stock: Stock) -> None:
    task_id = await stock.create()
    await go(page, readonly, f"/tasks/{task_id}")
    await expect(page.locator(".role")).to_have_text("read-only")
    await expect(page.get_by_role("link", name="Cancel…")).to_have_count(0)
    send = "path => fetch(path, {method: 'POST'}).then(answer => answer.status)"
    assert await page.evaluate(send, f"/console/tasks/{task_id}/cancel") == 405
    assert (await stock.record(task_id))["status"] == "working"


async def test_a_form_whose_token_was_changed_is_refused(page: Page, site: ConsoleSite, stock: Stock) -> None:
    task_id = await stock.create()
    await go(page, site, f"/tasks/{task_id}/cancel")
    await page.evaluate("document.querySelector('main input[name=csrf]').value = '0'.repeat(64)")
    await page.get_by_role("button", name="Cancel the task").click()
    await expect(page.get_by_role("heading")).to_have_text("Not allowed")
    assert (await stock.record(task_id))["status"] == "working"


async def test_a_page_of_another_port_can_do_nothing(
    page: Page, context: BrowserContext, site: ConsoleSite, readonly: ConsoleSite, stock: Stock
) -> None:
    """The same site to a browser's cookies, but another origin."""
    task_id = await stock.create()
    await go(page, site, f"/tasks/{task_id}/cancel")
    csrf = await page.locator("main input[name=csrf]").input_value()
    form = f'<form method=post action="{site.root}/tasks/{task_id}/cancel"><input name=csrf value="{csrf}"></form>'
    foreign = await context.new_page()
    await foreign.route("**/attack", lambda route: route.fulfill(body=form, content_type="text/html"))
    await foreign.goto(f"{readonly.url}/attack")
    await foreign.evaluate("document.forms[0].submit()")
    await expect(foreign.get_by_role("heading")).to_have_text("Not allowed")
    assert (await stock.record(task_id))["status"] == "working"


async def test_logging_in_leads_back(page: Page, guarded: ConsoleSite, stock: Stock) -> None:
    task_id = await stock.create()
    await go(page, guarded, f"/tasks/{task_id}")
    await page.get_by_label("Token").fill("not the right one")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("alert")).to_contain_text("opens nothing")
    await page.get_by_label("Token").fill(OPERATOR)
    await page.keyboard.press("Enter")
    await expect(page.locator("#task-id")).to_have_text(task_id)
    await expect(page.locator(".role")).to_have_text("operator")
    await page.get_by_role("button", name="Log out").click()
    await expect(page.get_by_label("Token")).to_be_visible()


async def test_by_keyboard_alone(page: Page, site: ConsoleSite, stock: Stock) -> None:
    task_id = await stock.create()
    await go(page, site)
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile("#main$"))
    await page.keyboard.press("/")
    await expect(page.locator("#find")).to_be_focused()
    await page.keyboard.type(task_id)
    await page.keyboard.press("Enter")
    await expect(page.locator("#task-id")).to_have_text(task_id)
    cancel = page.get_by_role("link", name="Cancel…")
    for _ in range(40):
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement.textContent") == "Cancel…":
            break
    await expect(cancel).to_be_focused()
    await expect(cancel).to_have_css("outline-style", "solid")
    await page.keyboard.press("Enter")
    button = page.get_by_role("button", name="Cancel the task")
    await button.focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("h1 .chip")).to_have_text("cancelled")


@pytest.mark.parametrize("name", ["Cancel…", "JSON"])
async def test_an_update_leaves_the_focus_where_it_is(page: Page, site: ConsoleSite, stock: Stock, name: str) -> None:
    run = await stock.start("render")
    await go_live(page, site, f"/tasks/{run.task_id}")
    await page.get_by_role("link", name=name).focus()
    await stock.runs.report(run.task_id, run.run, {"progress": 3, "progress_total": 8})
    await expect(page.locator(".panel.progress")).to_contain_text("3 of 8")
    await expect(page.get_by_role("link", name=name)).to_be_focused()


async def test_a_slash_is_a_slash_where_one_types(page: Page, site: ConsoleSite, stock: Stock) -> None:
    await go(page, site, "/tasks")
    await page.get_by_label("Owner").press_sequentially("a/b")
    await expect(page.get_by_label("Owner")).to_have_value("a/b")


async def test_arguments_can_be_copied(page: Page, context: BrowserContext, site: ConsoleSite, stock: Stock) -> None:
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    task_id = await stock.create("draw", arguments={"shape": "<circle>"})
    await go_live(page, site, f"/tasks/{task_id}")
    await page.locator("[data-copy=arguments]").click()
    await expect(page.locator("#told")).to_have_text("Copied")
    assert '"shape": "<circle>"' in await page.evaluate("navigator.clipboard.readText()")


async def test_without_scripts_all_can_be_read_and_done(
    as_viewport: Callable[..., Any], site: ConsoleSite, stock: Stock
) -> None:
    context = await as_viewport(java_script_enabled=False)
    page = await context.new_page()
    task_id = await stock.fail("no paper", "print")
    await go(page, site)
    await page.get_by_text("The same as a table").click()
    await expect(page.locator("#minutes tbody tr")).to_have_count(60)
    await page.locator(".tile.failed").click()
    await page.locator(f'a[href$="{task_id}"]').click()
    await expect(page.locator(".note.failed")).to_contain_text("no paper")
    await page.get_by_role("link", name="Purge…").click()
    await page.get_by_role("button", name="Purge the task").click()
    await expect(page.locator(".note")).to_have_text("The task was purged.")
    await context.close()


async def test_charts_follow_the_colours(page: Page, site: ConsoleSite, stock: Stock) -> None:
    await paint(stock)
    await page.emulate_media(color_scheme="light")
    await go(page, site)
    await expect(page.locator(".plot canvas")).to_have_count(2)
    await page.evaluate("document.querySelector('#chart-p95 canvas').dataset.old = '1'")
    await page.emulate_media(color_scheme="dark")
    await expect(page.locator("#chart-p95 canvas[data-old]")).to_have_count(0)
    await expect(page.locator(".plot canvas")).to_have_count(2)


async def test_what_is_watched_is_noticed(browser: Browser, site: ConsoleSite) -> None:
    """The watch over the tabs is good for something: the policy stops a script, and a script of ours sets it off."""
    page = await browser.new_page()
    watched = await watch(page)
    await go(page, site)
    await page.evaluate("""() => new Promise((resolve) => {
      document.addEventListener("securitypolicyviolation", resolve);
      document.body.insertAdjacentHTML("beforeend", '<img src="/console/static/icon.svg" onload="window.pwned = 1">');
    })""")
    with pytest.raises(AssertionError):
        await watched.check()
    await page.close()
