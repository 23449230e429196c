"""``python -m tests.console.shots``: the pictures of the console in docs/images, in light and dark."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, async_playwright

from tests.console.browser import CHROMIUM, FLAGS
from tests.console.scenery import paint
from tests.console.sites import ConsoleSite
from tests.console.stock import Stock
from tests.processes import ROOT, Valkey

IMAGES = ROOT / "docs" / "images"
SIZE: Any = {"width": 1200, "height": 800}


async def main(store: Valkey, images: Path = IMAGES) -> None:
    """Takes them all."""
    stock = Stock(store.url)
    shown = await paint(stock)
    await stock.close()
    pages = {"overview": "/", "tasks": "/tasks", "task": f"/tasks/{shown}"}
    with ConsoleSite(store.url, environment="production", console_write=True) as site:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            for scheme in ("light", "dark"):
                await _shoot(browser, site.root, scheme, pages, images)
            await browser.close()


async def _shoot(browser: Browser, root: str, scheme: Any, pages: dict[str, str], images: Path) -> None:
    context = await browser.new_context(color_scheme=scheme, viewport=SIZE)
    page = await context.new_page()
    for name, path in pages.items():
        await page.goto(root + path)
        await page.wait_for_selector("#pulse:not([hidden])")
        await page.screenshot(path=images / f"console-{name}-{scheme}.png")
    await context.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, Valkey(Path(folder)) as valkey:
        asyncio.run(main(valkey))
