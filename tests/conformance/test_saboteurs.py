"""Every check of ``receiver conform`` can fail: something is spoiled on the way to our server, and it does."""

import asyncio

import httpx2
import pytest
import pytest_asyncio

from ops.conform.check import load_checks
from ops.conform.runner import JOBS, Verdict, run_check
from ops.conform.server import Target
from tests.conformance.proxy import sabotaged
from tests.conformance.sabotage import Saboteur, load_saboteurs
from tests.conformance.scene import chosen

Verdicts = dict[str, Verdict | BaseException]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def verdicts(target: Target, http: httpx2.AsyncClient, request: pytest.FixtureRequest) -> Verdicts:
    """What came of the check of each chosen saboteur, or what the saboteur raised.  Most of them only wait."""
    free = asyncio.Semaphore(JOBS)

    async def work(saboteur: Saboteur) -> Verdict:
        async with free, sabotaged(target.urls, saboteur) as urls:
            return await run_check(saboteur.check, target.at(*urls), http, saboteur.patience)

    saboteurs: list[Saboteur] = chosen(request.session, "saboteur")
    together = [saboteur for saboteur in saboteurs if not saboteur.check.alone]
    found = await asyncio.gather(*map(work, together), return_exceptions=True)
    verdicts: Verdicts = {saboteur.name: verdict for saboteur, verdict in zip(together, found, strict=True)}
    for saboteur in saboteurs:
        if saboteur.check.alone:
            (verdicts[saboteur.name],) = await asyncio.gather(work(saboteur), return_exceptions=True)
    return verdicts


@pytest.mark.timeout(600)
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("saboteur", load_saboteurs(), ids=lambda saboteur: saboteur.name)
async def test_check_fails(saboteur: Saboteur, verdicts: Verdicts) -> None:
    verdict = verdicts[saboteur.name]
    if isinstance(verdict, BaseException):
        raise verdict
    assert verdict.status == ("failed" if saboteur.check.level == "MUST" else "warning"), verdict
    assert verdict.is_clear, verdict.detail  # it says what is wrong, and did not just stumble
    assert saboteur.says in verdict.detail


def test_every_check_has_a_saboteur() -> None:
    spoiled = {saboteur.check.name for saboteur in load_saboteurs()}
    assert [check.name for check in load_checks() if check.name not in spoiled] == []
