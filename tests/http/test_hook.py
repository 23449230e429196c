"""``Receiver(authenticate=...)`` on the wire."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.http.conftest import STATIC_TOKENS
from tests.http.requestor import Requestor, frame
from tests.issuer import AUDIENCE, Issuer
from tests.processes import Api, Valkey, Worker

APP = "tests.apps.authorized:hooked"


@pytest.fixture(scope="module")
def hooked(valkey: Valkey, issuer: Issuer) -> Iterator[str]:
    """The endpoint of an app that knows badges.  Its issuer is there for the metadata alone."""
    settings: dict[str, Any] = {
        "namespace": "hooked",
        "auth_issuer": issuer.url,
        "auth_audience": AUDIENCE,
        "auth_tokens": STATIC_TOKENS,
        "auth_scopes": "",
    }
    with Api(APP, valkey.url, **settings) as api, Worker(APP, valkey.url, namespace="hooked"):
        yield f"{api.url}/mcp"
        assert "Traceback" not in api.log, api.log
        assert "canary" not in api.log


class Visitor(Requestor):
    """Has a badge."""

    def __init__(self, http: httpx2.AsyncClient, url: str, badge: str, token: str | None = None) -> None:
        super().__init__(http, url, token)
        self._headers = {**self._headers, "x-badge": badge}


async def test_the_principal_is_the_one_that_it_returns(http: httpx2.AsyncClient, hooked: str) -> None:
    visitor = Visitor(http, hooked, "carol")
    expected = {"subject": "carol", "client": "door", "issuer": "hook", "scopes": ["enter"]}
    assert (await visitor.call("whoami"))["structuredContent"] == expected
    other = Visitor(http, hooked, "carol")
    assert "list" in (await other.result("initialize", {"protocolVersion": "2025-11-25"}))["capabilities"]["tasks"]


async def test_tasks_belong_to_that_principal(http: httpx2.AsyncClient, hooked: str) -> None:
    """A-12, T-85, T-89, T-90"""
    carol, dave = Visitor(http, hooked, "carol"), Visitor(http, hooked, "dave")
    task_id = await carol.create("whoami")
    assert (await dave.error("tasks/get", {"taskId": task_id}))["message"] == "Task not found"
    assert (await dave.result("tasks/list"))["tasks"] == []
    assert (await Visitor(http, hooked, "carol").get(task_id))["taskId"] == task_id


@pytest.mark.parametrize("badge", ["", "broken"])
@pytest.mark.parametrize("verb", ["POST", "GET", "DELETE"])
async def test_who_is_turned_away(http: httpx2.AsyncClient, hooked: str, verb: str, badge: str) -> None:
    """A-05, A-08: also by a function that fails."""
    response = await Visitor(http, hooked, badge, "canary-token").send(frame("ping"), verb=verb)
    assert response.status_code == 401
    assert 'error="invalid_token"' in response.headers["www-authenticate"]
    response = await Visitor(http, hooked, badge).send(frame("ping"), verb=verb)
    assert response.status_code == 401
    assert "error" not in response.headers["www-authenticate"]


async def test_static_tokens_go_on(http: httpx2.AsyncClient, hooked: str) -> None:
    """And come first: the function, which would fail, is not asked."""
    service = Visitor(http, hooked, "broken", "service-token")
    assert (await service.call("whoami"))["structuredContent"]["subject"] == "service"


async def test_it_takes_the_place_of_the_issuer(http: httpx2.AsyncClient, hooked: str, issuer: Issuer) -> None:
    """A token that would be good is for the function to judge; the metadata still names the issuer."""
    assert (await Requestor(http, hooked, issuer.sign("first")).send(frame("ping"))).status_code == 401
    metadata = await http.get(hooked.replace("/mcp", "/.well-known/oauth-protected-resource/mcp"))
    assert metadata.json()["authorization_servers"] == [issuer.url]


async def test_what_is_no_token_is_not_shown_to_it(http: httpx2.AsyncClient, hooked: str) -> None:
    """A-06"""
    response = await Visitor(http, hooked, "carol", "a, Bearer b").send(frame("ping"))
    assert response.status_code == 400
