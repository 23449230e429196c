"""Runs checks, several at a time, each with sessions of its own."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import httpx2

from ops.client.violation import Violation
from ops.conform.check import Check, NotApplicable
from ops.conform.server import EVERYTHING, Server, Target
from receiver.protocol.errors import StartupError

JOBS = 8  # checks at the same time
PATIENCE_SECONDS = 30.0
CLEANING_SECONDS = 10.0
KEEP_ALIVE_SECONDS = 2.0  # many servers close what was idle for 5: no request may meet that

Status = Literal["passed", "failed", "warning", "skipped"]


@dataclass(frozen=True)
class Verdict:
    """What came of a check.  ``detail`` says why it did not pass; ``is_clear`` is False where the check stumbled."""

    check: Check
    status: Status
    detail: str = ""
    seconds: float = 0.0
    is_clear: bool = True


@asynccontextmanager
async def open_client(
    *, keep_alive: float | None = KEEP_ALIVE_SECONDS, **options: Any
) -> AsyncIterator[httpx2.AsyncClient]:
    """The connections of a run, kept so many seconds.  Nothing in it has a deadline: each check has one as a whole."""
    limits = httpx2.Limits(max_connections=None, keepalive_expiry=keep_alive)
    async with httpx2.AsyncClient(timeout=None, limits=limits, **options) as http:
        yield http


async def survey(
    http: httpx2.AsyncClient, urls: Sequence[str], tokens: Sequence[str] = (), names: Mapping[str, str] | None = None
) -> Target:
    """What a server says of itself; StartupError if it can't be asked."""
    target = Target(tuple(urls), tuple(tokens), names or {})
    server = Server(target, http)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            session = server.session()
            initialized = (await session.initialize(EVERYTHING)).result
            await session.notify("notifications/initialized")
            server.target = target = replace(target, initialized=initialized)
            offered = {tool["name"]: tool for tool in await session.list_tools()} if server.declares("tools") else {}
            return replace(target, offered=offered)
    except (httpx2.TransportError, httpx2.InvalidURL, Violation, TimeoutError, UnicodeError) as error:
        raise StartupError(f"{urls[0]} can't be checked: {str(error) or 'it does not answer'}") from None
    finally:
        await _clean(server)


async def run_checks(
    checks: Iterable[Check],
    target: Target,
    http: httpx2.AsyncClient,
    patience: float = PATIENCE_SECONDS,
    jobs: int = JOBS,
) -> AsyncIterator[Verdict]:
    """The verdict of each, as they come; those that are run alone come last."""
    checks = list(checks)
    free = asyncio.Semaphore(jobs)

    async def run_one(check: Check) -> Verdict:
        async with free:
            return await run_check(check, target, http, patience)

    for verdict in asyncio.as_completed([run_one(check) for check in checks if not check.alone]):
        yield await verdict
    for check in checks:
        if check.alone:
            yield await run_one(check)


async def run_check(
    check: Check, target: Target, http: httpx2.AsyncClient, patience: float = PATIENCE_SECONDS
) -> Verdict:
    """The verdict of one check, after ``patience`` seconds at most, and what it takes to clean up."""
    server = Server(target, http)
    begun = time.monotonic()
    status, detail, is_clear = await _judge(check, server, patience)
    seconds = round(time.monotonic() - begun, 3)
    await _clean(server)
    return Verdict(check, status, detail, seconds, is_clear)


async def _judge(check: Check, server: Server, patience: float) -> tuple[Status, str, bool]:
    failed: Status = "failed" if check.level == "MUST" else "warning"
    try:
        async with asyncio.timeout(patience):
            server.require(*check.needs)
            for role in check.tools:
                server.tool(role)
            await check.run(server)
    except NotApplicable as reason:
        return "skipped", str(reason), True
    except Violation as violation:
        return failed, str(violation), True
    except TimeoutError:
        return failed, f"within {patience:g} s there was no end of waiting for {_waits(server)}", True
    except httpx2.TransportError as error:
        return failed, f"the connection broke ({error!r}) while waiting for {_waits(server)}", True
    except (AttributeError, LookupError, TypeError, ValueError) as error:  # an answer of a shape that no check expects
        return failed, f"the answer has a shape that can't be read ({error!r}) at {_place(error)}", False
    return "passed", "", True


def _waits(server: Server) -> str:
    return ", in ".join(reversed(server.waits)) or "what the check waits for"


def _place(error: BaseException) -> str:
    """The line of the check that stumbled."""
    place = error.__traceback__
    lines = []
    while place is not None:
        lines.append((place.tb_frame.f_code.co_filename, place.tb_lineno))
        place = place.tb_next
    file, line = next(((file, line) for file, line in reversed(lines) if "checks" in file), lines[-1])
    return f"{file}:{line}"


async def _clean(server: Server) -> None:
    try:
        async with asyncio.timeout(CLEANING_SECONDS):
            await server.close()
    except (httpx2.TransportError, Violation, TimeoutError, UnicodeError):
        pass  # it is no part of any check, and a session id that is not ASCII can't be sent back
    finally:
        for exchange in server.exchanges:
            await exchange.drop()
