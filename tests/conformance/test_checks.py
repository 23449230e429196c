"""Our own server passes every check of ``receiver conform``, on two nodes."""

import httpx2
import pytest

from ops.conform.check import Check, load_checks
from ops.conform.runner import run_check, run_checks
from ops.conform.server import Target
from tests.conformance.proxy import sabotaged

# Checks that say nothing of our server, by name, and why.
SKIPPED: dict[str, str] = {}


@pytest.mark.parametrize("check", load_checks(), ids=lambda check: check.name)
async def test_check_passes(check: Check, target: Target, http: httpx2.AsyncClient) -> None:
    verdict = await run_check(check, target, http)
    assert verdict.status == ("skipped" if check.name in SKIPPED else "passed"), verdict.detail


@pytest.mark.timeout(300)
async def test_proxy_spoils_nothing_by_itself(target: Target, http: httpx2.AsyncClient) -> None:
    """And many checks at a time do not disturb each other."""
    async with sabotaged(target.urls, None) as urls:
        verdicts = [verdict async for verdict in run_checks(load_checks(), target.at(*urls), http)]
    assert [verdict for verdict in verdicts if verdict.status in ("failed", "warning")] == []
