"""One store, one browser, and the consoles that the tests look at; all async tests here share one event loop."""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, async_playwright
from redis.asyncio import Redis

from tests.apps.wire import GATES_DATABASE
from tests.console.browser import CHROMIUM, FLAGS, Watched, watch
from tests.console.sites import TOKENS, ConsoleSite
from tests.console.stock import Stock
from tests.forgeries import KEY
from tests.http.gates import Gates
from tests.issuer import AUDIENCE, Issuer
from tests.npm import install
from tests.processes import Valkey

PACKAGES = Path(__file__).with_name("packages")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        is_ours = Path(__file__).parent in item.path.parents
        if is_ours and isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.function):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    with Valkey(tmp_path_factory.mktemp("console")) as server:
        yield server


@pytest.fixture(scope="session")
def site(valkey: Valkey) -> Iterator[ConsoleSite]:
    """On loopback, where everybody may act."""
    yield from _serve(valkey, console_write=True, environment="staging")


@pytest.fixture(scope="session")
def readonly(valkey: Valkey) -> Iterator[ConsoleSite]:
    """On loopback, and read-only."""
    yield from _serve(valkey)


@pytest.fixture(scope="session")
def guarded(valkey: Valkey) -> Iterator[ConsoleSite]:
    """With tokens."""
    yield from _serve(valkey, console_write=True, console_tokens=TOKENS)


@pytest.fixture(scope="session")
def issuer() -> Iterator[Issuer]:
    issuer = Issuer()
    issuer.add_key(KEY)
    yield issuer
    issuer.close()


@pytest.fixture(scope="session")
def issued(valkey: Valkey, issuer: Issuer) -> Iterator[ConsoleSite]:
    """With an issuer, whose tokens have scopes."""
    yield from _serve(
        valkey, console_write=True, auth_issuer=issuer.url, auth_audience=AUDIENCE, auth_scopes="mcp:tools"
    )


def _serve(valkey: Valkey, **settings: Any) -> Iterator[ConsoleSite]:
    with ConsoleSite(valkey.url, **settings) as site:
        yield site
        assert "Traceback" not in site.log, site.log


@pytest_asyncio.fixture(loop_scope="session")
async def stock(valkey: Valkey) -> AsyncIterator[Stock]:
    """The store, empty but for the secret that signs cookies."""
    stock = Stock(valkey.url)
    secret = await stock.redis.get(stock.keys.secret())
    await stock.redis.flushall()
    if secret is not None:
        await stock.redis.set(stock.keys.secret(), secret)
    yield stock
    await stock.close()


@pytest_asyncio.fixture(loop_scope="session")
async def gates(valkey: Valkey) -> AsyncIterator[Gates]:
    url = urlsplit(valkey.url)._replace(path=f"/{GATES_DATABASE}").geturl()
    async with Redis.from_url(url) as redis:
        yield Gates(redis)


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def browser() -> AsyncIterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("chromium is not on PATH")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def context(browser: Browser) -> AsyncIterator[BrowserContext]:
    context = await browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(20_000)
    yield context
    await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def page(context: BrowserContext) -> AsyncIterator[Page]:
    """A tab.  Nothing that it shows may break the rules of its page, or run what it should not."""
    page = await context.new_page()
    watched: Watched = await watch(page)
    yield page
    await watched.check()


@pytest.fixture(scope="session")
def packages() -> Path:
    """What npm has of the packages that the console uses."""
    folder, _ = install(PACKAGES, oldest_node=12)
    return folder / "node_modules"


@pytest.fixture
def as_viewport(browser: Browser) -> Callable[..., Any]:
    """Another kind of browser window; whoever makes one closes it."""
    return browser.new_context
