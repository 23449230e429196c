"""Debian's Chromium, driven by playwright, and what is watched in each tab."""

import os
import shutil
from dataclasses import dataclass, field

from playwright.async_api import Page, Response

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    *(["--no-sandbox"] if os.geteuid() == 0 else []),
]

# A script of somebody else would set `pwned`; what the policy of the page forbids is noted.
SENTINEL = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
});
"""


@dataclass
class Watched:
    """A tab: what went wrong in it."""

    page: Page
    faults: list[str] = field(default_factory=list)

    async def check(self) -> None:
        """Fails for errors in scripts, dialogs, and whatever the policy had to stop."""
        assert not self.faults, self.faults
        if self.page.url.startswith("http"):
            assert await self.page.evaluate("window.violations") == []
            assert await self.page.evaluate("window.pwned === undefined")


async def watch(page: Page) -> Watched:
    """Begins to watch a tab."""
    watched = Watched(page)
    await page.add_init_script(SENTINEL)
    page.on("pageerror", lambda error: watched.faults.append(f"error: {error}"))
    page.on("dialog", lambda dialog: watched.faults.append(f"dialog: {dialog.message}"))
    page.on("response", lambda response: _note(watched, response))
    return watched


def _note(watched: Watched, response: Response) -> None:
    if response.status >= 500:
        watched.faults.append(f"{response.status} {response.url}")
