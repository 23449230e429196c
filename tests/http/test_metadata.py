"""The metadata of the protected resource (A-01, RFC 9728), and the way to it from a challenge."""

import re
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp.shared.auth import ProtectedResourceMetadata
from mcp.shared.auth_utils import check_resource_allowed

from tests.http.conftest import Deployment, Issued
from tests.http.raw import exchange
from tests.http.requestor import Requestor, frame
from tests.issuer import Issuer
from tests.processes import HOST, Api, Site, Valkey, find_free_port, variables

WELL_KNOWN = "/.well-known/oauth-protected-resource"
PATHS = [WELL_KNOWN, f"{WELL_KNOWN}/mcp"]
APP = "tests.apps.authorized:app"


@pytest.mark.parametrize("path", PATHS)
async def test_what_it_says(http: httpx2.AsyncClient, issued: Issued, path: str) -> None:
    """A-01: to everyone; as the Python SDK reads it, it is this endpoint's."""
    response = await http.get(issued.first.url + path)
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert response.json() == {
        "resource": issued.url,
        "authorization_servers": [issued.issuer.url],
        "bearer_methods_supported": ["header"],
    }
    read = ProtectedResourceMetadata.model_validate_json(response.content)
    assert check_resource_allowed(issued.url, str(read.resource))


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "[::1]:8000"])
async def test_it_answers_for_the_name_that_was_used(http: httpx2.AsyncClient, issued: Issued, host: str) -> None:
    """RFC 9728, 3.3: a client compares it with what it asked for."""
    response = await http.get(f"{issued.first.url}{WELL_KNOWN}/mcp", headers={"host": host})
    assert response.json()["resource"] == f"http://{host.lower()}/mcp"


@pytest.mark.parametrize(("host", "status"), [("evil.example.com", 403), ("x/admin?", 400), ("a, b", 400)])
async def test_it_answers_for_no_other_name(http: httpx2.AsyncClient, issued: Issued, host: str, status: int) -> None:
    """H-03, F6"""
    response = await http.get(f"{issued.first.url}{WELL_KNOWN}/mcp", headers={"host": host})
    assert response.status_code == status
    assert host not in response.text


async def test_two_names_are_none(issued: Issued) -> None:
    headers = ["Host: localhost", "Host: evil.example.com"]
    url = issued.first.url + WELL_KNOWN
    assert (await exchange(url, headers, head=f"GET {WELL_KNOWN} HTTP/1.1")).status == 400


async def test_the_challenge_leads_to_it(http: httpx2.AsyncClient, issued: Issued) -> None:
    """A-02"""
    refused = await Requestor(http, issued.url).send(frame("ping"))
    found = re.search('resource_metadata="([^"]+)"', refused.headers["www-authenticate"])
    assert found is not None
    assert (await http.get(found[1])).json()["resource"] == issued.url


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("deployment", ["anonymous", "tokened"])
async def test_without_an_issuer_there_is_none(
    http: httpx2.AsyncClient, request: pytest.FixtureRequest, deployment: str, path: str
) -> None:
    api: Deployment = request.getfixturevalue(deployment)
    assert (await http.get(api.api.url + path)).status_code == 404


async def test_a_configured_resource_and_scopes(http: httpx2.AsyncClient, valkey: Valkey, issuer: Issuer) -> None:
    """A-11: its scheme and host are shown in lower case, and a request has no say in it."""
    settings = {
        "auth_issuer": issuer.url,
        "auth_scopes": "tasks:read,tasks:run",
        "resource_url": "HTTPS://Tools.example.com/team/mcp",
    }
    with Api(APP, valkey.url, env={f"RECEIVER_{name.upper()}": value for name, value in settings.items()}) as api:
        for path in PATHS:
            response = await http.get(api.url + path, headers={"x-forwarded-host": "evil.example.com"})
            assert response.json() == {
                "resource": "https://tools.example.com/team/mcp",
                "authorization_servers": [issuer.url],
                "scopes_supported": ["tasks:read", "tasks:run"],
                "bearer_methods_supported": ["header"],
            }


@pytest.fixture(scope="module")
def site(valkey: Valkey, issuer: Issuer) -> Iterator[Site]:
    """``tests/apps/mounted.py``, with an issuer."""
    port = find_free_port()
    command = [sys.executable, "-m", "uvicorn", "tests.apps.mounted:site", "--host", HOST, "--port", str(port)]
    settings = {"namespace": "mounted", "auth_issuer": issuer.url, "auth_audience": "https://mcp.example.com/mcp"}
    with Site(command, port, path="/", env=variables(valkey.url, settings)) as running:
        yield running
        assert "Traceback" not in running.log, running.log


@pytest.mark.parametrize("root", ["/tools", "/a/b"])
async def test_below_a_path(http: httpx2.AsyncClient, site: Site, issuer: Issuer, root: str) -> None:
    """The challenge leads to where it is."""
    endpoint = f"{site.url}{root}/mcp"
    refused = await Requestor(http, endpoint).send(frame("ping"))
    found = re.search('resource_metadata="([^"]+)"', refused.headers["www-authenticate"])
    assert found is not None
    assert urlsplit(found[1]).path == f"{root}{WELL_KNOWN}/mcp"
    assert (await http.get(found[1])).json()["resource"] == endpoint
    assert (await Requestor(http, endpoint, issuer.sign("first")).send(frame("ping"))).status_code == 200
