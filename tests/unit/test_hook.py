"""The author's own function: every kind of it, and every way in which it may fail."""

import asyncio
import functools
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from structlog.testing import capture_logs

from receiver.http.hook import Hook
from receiver.principal import ANONYMOUS, Principal

ALICE = Principal("alice")
HEADERS = {b"authorization": b"Bearer canary", b"x-user": b"\xe9"}


@pytest.fixture(autouse=True)
def logs() -> Iterator[list[Any]]:
    with capture_logs() as lines:
        yield lines


async def identify(authenticate: Any) -> Principal | None:
    return await Hook(authenticate).identify(HEADERS)


async def of_the_loop(headers: Mapping[str, str], found: Principal | None = ALICE) -> Principal | None:
    assert asyncio.get_running_loop().is_running()
    await asyncio.sleep(0)
    return found


def plain(headers: Mapping[str, str]) -> Principal | None:
    assert threading.current_thread() is not threading.main_thread()
    return ALICE


class Asked:
    """Callable, and async."""

    async def __call__(self, headers: Mapping[str, str]) -> Principal | None:
        return await of_the_loop(headers)


@pytest.mark.parametrize(
    "authenticate",
    [of_the_loop, plain, functools.partial(of_the_loop, found=ALICE), Asked(), lambda headers: of_the_loop(headers)],
    ids=["async", "plain", "partial", "object", "lambda"],
)
async def test_kinds_of_functions(authenticate: Any) -> None:
    """A plain one runs in a thread: it may look into a database."""
    assert await identify(authenticate) is ALICE


async def test_it_gets_the_headers() -> None:
    seen = []

    async def authenticate(headers: Mapping[str, str]) -> None:
        seen.append(headers)

    assert await identify(authenticate) is None
    assert seen == [{"authorization": "Bearer canary", "x-user": "\u00e9"}]


def look_up(headers: Mapping[str, str]) -> Principal:
    return {"Bearer other": ALICE}[headers["authorization"]]


async def look_up_async(headers: Mapping[str, str]) -> Principal:
    return look_up(headers)


@pytest.mark.parametrize("authenticate", [look_up, look_up_async])
async def test_one_that_fails(authenticate: Any, logs: list[Any]) -> None:
    """A-10: nobody is let in; the log says what failed and where, and not what was in it."""
    assert await identify(authenticate) is None
    (line,) = logs
    assert (line["event"], line["error"], line["log_level"]) == ("authenticate_failed", "KeyError", "error")
    assert line["at"][-1].startswith(__file__)
    assert "canary" not in str(logs)


@pytest.mark.parametrize("found", ["alice", True, ALICE.to_json(), ANONYMOUS, Principal("", scopes=frozenset({"all"}))])
async def test_one_that_returns_nobody_in_particular(found: Any, logs: list[Any]) -> None:
    """T-88: all who are nobody would share their tasks, and list each other's."""

    async def authenticate(headers: Mapping[str, str]) -> Any:
        return found

    assert await identify(authenticate) is None
    assert [line["log_level"] for line in logs] == ["error"]


@pytest.mark.parametrize("parts", [(7,), ("alice", None), ("\ud800",), ("a", "b", "c", "scope"), ("a", "b", "c", [1])])
async def test_one_that_makes_no_principal(parts: tuple[Any, ...], logs: list[Any]) -> None:
    assert await identify(lambda headers: Principal(*parts)) is None
    assert [line["error"] for line in logs] in (["TypeError"], ["UnicodeEncodeError"])


async def test_an_end_of_the_process_is_no_failure() -> None:
    """Shutdown cancels requests."""

    async def authenticate(headers: Mapping[str, str]) -> Principal:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await identify(authenticate)
