"""Our own server passes every check of ``receiver conform``, on two nodes."""

from collections.abc import Iterator
from contextlib import ExitStack

import httpx2
import pytest
import pytest_asyncio

from ops.conform.check import Check, load_checks
from ops.conform.runner import Verdict, run_checks, survey
from ops.conform.server import Target
from tests.conformance.proxy import sabotaged
from tests.conformance.scene import APP, chosen
from tests.processes import Api, Valkey, Worker

pytestmark = [pytest.mark.timeout(300), pytest.mark.asyncio(loop_scope="module")]

# Checks that say nothing of our server with tokens, by name, and why.
SKIPPED = {"anonymous-ids-are-random": "who has no token is refused"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def verdicts(target: Target, http: httpx2.AsyncClient, request: pytest.FixtureRequest) -> dict[str, Verdict]:
    """What came of the chosen checks, by name.  They are run as the command runs them: many at a time."""
    checks: list[Check] = chosen(request.session, "check")
    return {verdict.check.name: verdict async for verdict in run_checks(checks, target, http)}


@pytest.mark.parametrize("check", load_checks(), ids=lambda check: check.name)
async def test_check_passes(check: Check, verdicts: dict[str, Verdict]) -> None:
    verdict = verdicts[check.name]
    assert verdict.status == ("skipped" if check.name in SKIPPED else "passed"), verdict.detail


async def test_proxy_spoils_nothing_by_itself(target: Target, http: httpx2.AsyncClient) -> None:
    async with sabotaged(target.urls, None) as urls:
        verdicts = [verdict async for verdict in run_checks(load_checks(), target.at(*urls), http)]
    assert [verdict for verdict in verdicts if verdict.status in ("failed", "warning")] == []


@pytest.fixture
def anonymous_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a node is that asks nobody who it is."""
    with ExitStack() as stack:
        valkey = stack.enter_context(Valkey(tmp_path_factory.mktemp("valkey")))
        node = stack.enter_context(Api(APP, valkey.url))
        stack.enter_context(Worker(APP, valkey.url))
        yield f"{node.url}/mcp"


async def test_a_server_that_asks_nobody_who_it_is(anonymous_url: str, http: httpx2.AsyncClient) -> None:
    target = await survey(http, [anonymous_url])
    verdicts = {verdict.check.name: verdict async for verdict in run_checks(load_checks(), target, http)}
    assert [verdict for verdict in verdicts.values() if verdict.status in ("failed", "warning")] == []
    assert {name: verdicts[name].status for name in SKIPPED} == dict.fromkeys(SKIPPED, "passed")
