"""tasks/list: the requestor's own tasks, newest first, in pages (of three, here)."""

import base64
from typing import Any

import pytest

from tests.http.gates import Gates
from tests.http.requestor import Requestor

INVALID = {"code": -32602, "message": "Invalid cursor"}


async def walk(requestor: Requestor) -> list[list[Any]]:
    """The tasks of each page."""
    page = await requestor.result("tasks/list")
    pages = [page["tasks"]]
    while "nextCursor" in page:
        page = await requestor.result("tasks/list", {"cursor": page["nextCursor"]})
        pages.append(page["tasks"])
    return pages


async def first_cursor(requestor: Requestor) -> str:
    """The cursor of the second page, for which there are enough tasks."""
    for _ in range(4):
        await requestor.create("echo", text="x")
    cursor: str = (await requestor.result("tasks/list"))["nextCursor"]
    return cursor


async def test_nobody_begins_with_tasks(newcomer: Requestor) -> None:
    response = await newcomer.ask("tasks/list")
    assert response.content == b'{"jsonrpc":"2.0","id":1,"result":{"tasks":[]}}'


async def test_a_task_is_listed_as_it_stands(newcomer: Requestor, gates: Gates, label: str) -> None:
    """T-66, T-58, X-7: after its creation and after each change, exactly as tasks/get shows it."""
    params = {"name": "gated", "arguments": {"label": label}, "task": {}}
    created = (await newcomer.result("tools/call", params))["task"]
    assert await newcomer.result("tasks/list") == {"tasks": [created]}
    await gates.open(label)
    await newcomer.ask("tasks/result", {"taskId": created["taskId"]})
    completed = await newcomer.get(created["taskId"])
    assert await newcomer.result("tasks/list", {}) == {"tasks": [completed]}
    params["arguments"] = {"label": "closed"}
    second = (await newcomer.result("tools/call", params))["task"]
    cancelled = await newcomer.result("tasks/cancel", {"taskId": second["taskId"]})
    assert await newcomer.result("tasks/list", {"cursor": None}) == {"tasks": [cancelled, completed]}


@pytest.mark.parametrize(("count", "sizes"), [(3, [3]), (4, [3, 1]), (6, [3, 3]), (7, [3, 3, 1])])
async def test_pages(newcomer: Requestor, count: int, sizes: list[int]) -> None:
    """T-63, T-64: newest first, all of them, once; and no cursor on the last page, even if it is full."""
    ids = [await newcomer.create("echo", text="x") for _ in range(count)]
    pages = await walk(newcomer)
    assert list(map(len, pages)) == sizes
    times = [task["createdAt"] for page in pages for task in page]
    assert times == sorted(times, reverse=True)
    assert sorted(task["taskId"] for page in pages for task in page) == sorted(ids)


async def test_tasks_that_come_meanwhile_move_nothing(newcomer: Requestor) -> None:
    """T-64: a page that is asked for later has what it would have had."""
    ids = [await newcomer.create("echo", text="x") for _ in range(7)]
    page = await newcomer.result("tasks/list")
    seen = [task["taskId"] for task in page["tasks"]]
    while "nextCursor" in page:
        await newcomer.create("echo", text="x")
        page = await newcomer.result("tasks/list", {"cursor": page["nextCursor"]})
        seen += [task["taskId"] for task in page["tasks"]]
    assert sorted(seen) == sorted(ids)


async def test_a_cursor_serves_more_than_once(newcomer: Requestor) -> None:
    cursor = await first_cursor(newcomer)
    assert await newcomer.result("tasks/list", {"cursor": cursor}) == await newcomer.result(
        "tasks/list", {"cursor": cursor}
    )


async def test_a_cursor_outlives_its_task(newcomer: Requestor) -> None:
    """T-64: it names a position, and what follows that is still listed."""
    first = await newcomer.finish("echo", text="x")
    params = {"name": "gated", "arguments": {"label": "closed"}, "task": {"ttl": 1000}}
    short = [(await newcomer.result("tools/call", params))["task"]["taskId"] for _ in range(3)]
    cursor = (await newcomer.result("tasks/list"))["nextCursor"]
    for task_id in short:
        async with newcomer.stream("tasks/result", {"taskId": task_id}) as stream:
            await stream.rest()
    assert await newcomer.result("tasks/list") == {"tasks": [await newcomer.get(first)]}
    assert await newcomer.result("tasks/list", {"cursor": cursor}) == {"tasks": [await newcomer.get(first)]}


@pytest.mark.parametrize("cursor", ["", "x", "AAAA", "é", "x" * 10_000, 0, 1, True, [], {}])
async def test_what_is_no_cursor(alice: Requestor, cursor: object) -> None:
    """T-77"""
    assert await alice.error("tasks/list", {"cursor": cursor}) == INVALID


async def test_a_foreign_cursor(newcomer: Requestor, bob: Requestor) -> None:
    """T-77, T-90: it is bound to its owner."""
    assert await bob.error("tasks/list", {"cursor": await first_cursor(newcomer)}) == INVALID


async def test_a_cursor_that_was_tampered_with(newcomer: Requestor) -> None:
    """T-77: not one character of it can be another one, missing, or too much."""
    cursor = await first_cursor(newcomer)
    others = ["A" if character != "A" else "B" for character in cursor]
    forged = [cursor[:at] + other + cursor[at + 1 :] for at, other in enumerate(others)]
    for attempt in [*forged, cursor[:-1], cursor + "A", cursor + "=", " " + cursor, cursor + "\n"]:
        assert await newcomer.error("tasks/list", {"cursor": attempt}) == INVALID, attempt


async def test_a_cursor_says_nothing_of_its_owner(newcomer: Requestor) -> None:
    """T-65: what can be read in it is a position, no principal."""
    cursor = await first_cursor(newcomer)
    assert b"newcomer" not in base64.urlsafe_b64decode(cursor + "==")
