"""Lists in pages: each cursor is good for one list and one principal, on any node."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.processes import Valkey
from tests.wire.client import Client
from tests.wire.conftest import Site, deploy

LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
INVALID_CURSOR = {"code": -32602, "message": "Invalid cursor"}
SETTINGS: dict[str, Any] = {"app": "tests.apps.library:app", "workers": 0, "page_size": 1}


@pytest.fixture(scope="module")
def site(valkey: Valkey) -> Iterator[Site]:
    with deploy(valkey, namespace="paging", list_page_size=2, **SETTINGS) as site:
        yield site


@pytest.fixture(scope="module")
def whole(valkey: Valkey) -> Iterator[Site]:
    """Where a page is as long as it is by default."""
    with deploy(valkey, namespace="whole", **SETTINGS) as site:
        yield site


@pytest.mark.parametrize("method", LISTS)
async def test_a_walk(alice: Client, http: httpx2.AsyncClient, whole: Site, method: str) -> None:
    """Over both nodes in turn: everything comes once, in the order in which it was registered."""
    other = Client(http, whole.urls, "alice-token")
    await other.open()
    await alice.open()
    page = await other.result(method)
    assert "nextCursor" not in page
    everything, found, node = page[LISTS[method]], [], 0
    params: dict[str, Any] = {}
    while True:
        page = await alice.result(method, params, node)
        found += page[LISTS[method]]
        if "nextCursor" not in page:
            break
        assert len(page[LISTS[method]]) == 2
        params, node = {"cursor": page["nextCursor"]}, 1 - node
    assert found == everything
    assert len(found) > 2 or method == "tools/list"


async def test_a_page_that_is_just_full_is_the_last(alice: Client) -> None:
    """The four prompts make two pages."""
    await alice.open()
    second = (await alice.result("prompts/list"))["nextCursor"]
    assert "nextCursor" not in await alice.result("prompts/list", {"cursor": second})


async def test_a_cursor_of_another_list(alice: Client) -> None:
    """Also that of tasks/list."""
    await alice.open()
    for _ in range(2):
        await alice.create("link", {})
    cursors = {method: (await alice.result(method)).get("nextCursor") for method in (*LISTS, "tasks/list")}
    assert [method for method, cursor in cursors.items() if cursor is None] == ["tools/list"]
    for method in (*LISTS, "tasks/list"):
        for origin, cursor in cursors.items():
            if cursor is not None and origin != method:
                assert await alice.error(method, {"cursor": cursor}) == INVALID_CURSOR


async def test_a_cursor_of_someone_else(alice: Client, bob: Client) -> None:
    await alice.open()
    await bob.open()
    cursor = (await alice.result("resources/list"))["nextCursor"]
    assert await bob.error("resources/list", {"cursor": cursor}) == INVALID_CURSOR
    assert "resources" in await alice.result("resources/list", {"cursor": cursor}, 1)


@pytest.mark.parametrize("cursor", ["", "garbage", 0, True, ["x"], {}, "A" * 100_000])
@pytest.mark.parametrize("method", LISTS)
async def test_what_is_no_cursor(alice: Client, method: str, cursor: object) -> None:
    await alice.open()
    assert await alice.error(method, {"cursor": cursor}) == INVALID_CURSOR


async def test_a_cursor_behind_what_is_not_there_any_more(
    alice: Client, http: httpx2.AsyncClient, valkey: Valkey
) -> None:
    """As after a restart with another version of the app."""
    await alice.open()
    cursor = (await alice.result("resources/list"))["nextCursor"]
    with deploy(valkey, app="tests.apps.shelf:app", namespace="paging", workers=0) as site:
        newer = Client(http, site.urls, "alice-token")
        await newer.open()
        assert await newer.error("resources/list", {"cursor": cursor}) == INVALID_CURSOR
