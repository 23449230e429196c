"""/livez and /readyz, while all is well; ``test_unavailable`` has the rest."""

import httpx2
import pytest

from tests.http.conftest import Deployment


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
async def test_all_is_well(http: httpx2.AsyncClient, tokened: Deployment, path: str) -> None:
    """No token is asked for."""
    response = await http.get(tokened.api.url + path)
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
async def test_only_get_is_served(http: httpx2.AsyncClient, anonymous: Deployment, path: str) -> None:
    assert (await http.post(anonymous.api.url + path)).status_code == 405
