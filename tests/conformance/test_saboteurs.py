"""Every check of ``receiver conform`` can fail: something is spoiled on the way to our server, and it does."""

import httpx2
import pytest

from ops.conform.check import load_checks
from ops.conform.runner import run_check
from ops.conform.server import Target
from tests.conformance.proxy import sabotaged
from tests.conformance.sabotage import Saboteur, load_saboteurs


@pytest.mark.parametrize("saboteur", load_saboteurs(), ids=lambda saboteur: saboteur.name)
async def test_check_fails(saboteur: Saboteur, target: Target, http: httpx2.AsyncClient) -> None:
    async with sabotaged(target.urls, saboteur) as urls:
        verdict = await run_check(saboteur.check, target.at(*urls), http, saboteur.patience)
    assert verdict.status == ("failed" if saboteur.check.level == "MUST" else "warning"), verdict
    assert verdict.is_clear, verdict.detail  # it says what is wrong, and did not just stumble
    assert saboteur.says in verdict.detail


def test_every_check_has_a_saboteur() -> None:
    spoiled = {saboteur.check.name for saboteur in load_saboteurs()}
    assert [check.name for check in load_checks() if check.name not in spoiled] == []
