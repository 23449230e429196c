"""The A rows on the wire: which tokens are taken, what the others are told, and whose a task is."""

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

from tests.forgeries import FORGERIES, KEY, RSA_KEY, by_another_key
from tests.http.conftest import Issued
from tests.http.raw import exchange
from tests.http.requestor import Requestor, frame
from tests.issuer import AUDIENCE, Issuer
from tests.processes import Api, Valkey

APP = "tests.apps.authorized:app"
METHODS = ["tasks/get", "tasks/result", "tasks/cancel"]
VERBS = ["POST", "GET", "DELETE"]
NOT_FOUND = b'{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Task not found"}}'
REFUSED = {"jsonrpc": "2.0", "error": {"code": -32600, "message": "A valid bearer token is required"}}
SCOPES = {
    "poor-token": {"subject": "poor", "scopes": ["tasks:read"]},
    "rich-token": {"subject": "rich", "scopes": ["tasks:run", "x", "tasks:read"]},
}


@pytest.fixture
def alice(http: httpx2.AsyncClient, issued: Issued) -> Requestor:
    return Requestor(http, issued.url, issued.issuer.sign(KEY))


def challenge_of(url: str, *parameters: str) -> str:
    metadata_url = url.removesuffix("/mcp") + "/.well-known/oauth-protected-resource/mcp"
    return ", ".join([f'Bearer resource_metadata="{metadata_url}"', *parameters])


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
async def test_forgeries_are_told_nothing(
    http: httpx2.AsyncClient, issued: Issued, forgery: Callable[[Issuer], str], verb: str
) -> None:
    """A-04, A-05, A-08: one answer for all of them, on every method."""
    stranger = Requestor(http, issued.url, forgery(issued.issuer))
    response = await stranger.send(frame("ping"), verb=verb)
    assert (response.status_code, response.json()) == (401, REFUSED)
    assert response.headers["www-authenticate"] == challenge_of(issued.url, 'error="invalid_token"')


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("given", [None, "", "Basic YTpi", "alice", "DPoP x"])
async def test_without_a_bearer_token(http: httpx2.AsyncClient, issued: Issued, verb: str, given: str | None) -> None:
    """A-02, A-05, A-08, S-01: RFC 6750, 3.1: no error is named where nothing was tried.  A session is no excuse."""
    headers = {"authorization": given, "mcp-session-id": "x"}
    response = await Requestor(http, issued.url).send(frame("ping"), headers, verb=verb)
    assert (response.status_code, response.json()) == (401, REFUSED)
    assert response.headers["www-authenticate"] == challenge_of(issued.url)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("given", ["Bearer", "Bearer  ", "Bearer a b", "Bearer a,b", "Bearer a, Bearer b", "Bearer é"])
async def test_what_is_no_token(issued: Issued, verb: str, given: str) -> None:
    """A-06"""
    reply = await exchange(issued.url, [f"Authorization: {given}", "Content-Length: 0"], method=verb)
    assert (reply.status, reply.headers["www-authenticate"]) == (
        400,
        challenge_of(issued.url, 'error="invalid_request"'),
    )
    assert json.loads(reply.body)["error"] == {"code": -32600, "message": "Authorization must be one bearer token"}


async def test_two_good_tokens_are_none(issued: Issued) -> None:
    """A-06: a proxy may have looked at the other one."""
    tokens = [issued.issuer.sign(KEY), "service-token"]
    for pair in (tokens, tokens[::-1], tokens[:1] * 2):
        headers = [f"Authorization: Bearer {token}" for token in pair]
        assert (await exchange(issued.url, [*headers, "Content-Length: 0"])).status == 400


@pytest.mark.parametrize("name", ["access_token", "token", "authorization"])
async def test_a_token_in_the_address_is_not_looked_at(http: httpx2.AsyncClient, issued: Issued, name: str) -> None:
    """A-08: neither by itself nor beside one in the header."""
    token = issued.issuer.sign(KEY)
    url = f"{issued.url}?{name}={token}"
    assert (await Requestor(http, url).send(frame("ping"))).status_code == 401
    assert (await Requestor(http, url, "unknown").send(frame("ping"))).status_code == 401
    assert (await Requestor(http, f"{issued.url}?{name}=x", token).send(frame("ping"))).status_code == 200


async def test_a_token_in_the_body_is_not_looked_at(http: httpx2.AsyncClient, issued: Issued) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    body = f"access_token={issued.issuer.sign(KEY)}".encode()
    assert (await Requestor(http, issued.url).send(body, form)).status_code == 401


async def test_a_tool_knows_who_called_it(http: httpx2.AsyncClient, issued: Issued) -> None:
    """A-04, A-11: the principal and its scopes reach the run, of a plain call and of a task."""
    token = issued.issuer.sign(RSA_KEY, algorithm="PS256", aud=[AUDIENCE.upper().replace("/MCP", "/mcp")], scope="b a")
    requestor = Requestor(http, issued.url, token)
    expected = {"subject": "alice", "client": "cli", "issuer": issued.issuer.url, "scopes": ["a", "b"]}
    assert (await requestor.call("whoami"))["structuredContent"] == expected
    task_id = await requestor.create("whoami")
    assert (await requestor.result("tasks/result", {"taskId": task_id}))["structuredContent"] == expected


async def test_a_static_token_beside_the_issuer(http: httpx2.AsyncClient, issued: Issued) -> None:
    service = Requestor(http, issued.url, "service-token")
    expected = {"subject": "service", "client": "", "issuer": "static", "scopes": ["all"]}
    assert (await service.call("whoami"))["structuredContent"] == expected


async def test_requestors_are_told_apart(alice: Requestor) -> None:
    """T-88: so there is tasks/list."""
    assert "list" in (await alice.result("initialize", {"protocolVersion": "2025-11-25"}))["capabilities"]["tasks"]


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
@pytest.mark.parametrize(
    "stranger",
    [
        {"sub": "bob"},
        {"client_id": "other"},
        {"sub": "cli", "client_id": "alice"},
        "static-alice-token",
        "service-token",
    ],
)
async def test_a_foreign_task_is_an_unknown_task(
    http: httpx2.AsyncClient, issued: Issued, alice: Requestor, stranger: Any, status: str
) -> None:
    """A-12, T-85, T-89, T-90: on the other node, on every operation, byte for byte."""
    task_id = await alice.create("fail" if status == "failed" else "whoami")
    if status == "cancelled":
        await alice.send(frame("tasks/cancel", {"taskId": task_id}))
    await alice.send(frame("tasks/result", {"taskId": task_id}))
    token = stranger if isinstance(stranger, str) else issued.issuer.sign(KEY, **stranger)
    other = Requestor(http, issued.second_url, token)
    for method in METHODS:
        assert (await other.ask(method, {"taskId": task_id})).content == NOT_FOUND
        assert (await other.ask(method, {"taskId": "0-" + "0" * 32})).content == NOT_FOUND
    assert (await other.result("tasks/list"))["tasks"] == []
    assert (await alice.get(task_id))["taskId"] == task_id
    listed = (await alice.result("tasks/list"))["tasks"]
    assert task_id in [task["taskId"] for task in listed]


async def test_a_new_token_of_the_same_requestor(http: httpx2.AsyncClient, issued: Issued, alice: Requestor) -> None:
    """A-12: tasks belong to issuer, client and subject, and not to a token, its scopes or its key."""
    task_id = await alice.create("whoami")
    token = issued.issuer.sign(RSA_KEY, scope="other", jti="2", client_id=None, azp="cli")
    again = Requestor(http, issued.second_url, token)
    assert (await again.get(task_id))["taskId"] == task_id


@pytest.fixture(scope="module")
def scoped(valkey: Valkey, issuer: Issuer) -> Iterator[Api]:
    """Asks for two scopes, and knows its own address."""
    settings: dict[str, Any] = {
        "namespace": "scoped",
        "auth_issuer": issuer.url,
        "auth_jwks_url": issuer.jwks_url,
        "auth_tokens": SCOPES,
        "auth_scopes": "tasks:read,tasks:run",
        "resource_url": AUDIENCE,
    }
    with Api(APP, valkey.url, **settings) as api:
        yield api


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("scope", [None, "", "tasks:read", "tasks:run tasks", "TASKS:READ TASKS:RUN", "poor-token"])
async def test_a_scope_is_missing(
    http: httpx2.AsyncClient, issuer: Issuer, scoped: Api, verb: str, scope: str | None
) -> None:
    """A-06, A-07: of whatever kind the token is."""
    token = scope if scope in SCOPES else issuer.sign(KEY, scope=scope)
    response = await Requestor(http, f"{scoped.url}/mcp", token).send(frame("ping"), verb=verb)
    assert response.status_code == 403
    parameters = ('scope="tasks:read tasks:run"', 'error="insufficient_scope"')
    assert response.headers["www-authenticate"] == challenge_of(AUDIENCE, *parameters)
    assert response.json()["error"] == {"code": -32600, "message": "The token lacks a scope that is required"}


@pytest.mark.parametrize(
    "token", [{"scope": "tasks:run tasks:read"}, {"scp": ["tasks:read", "tasks:run", "x"]}, "rich-token"]
)
async def test_all_scopes_are_there(http: httpx2.AsyncClient, issuer: Issuer, scoped: Api, token: Any) -> None:
    given = token if isinstance(token, str) else issuer.sign(KEY, **token)
    assert (await Requestor(http, f"{scoped.url}/mcp", given).ask("ping")).status_code == 200


async def test_the_challenge_names_the_scopes(http: httpx2.AsyncClient, scoped: Api) -> None:
    """A-03"""
    response = await Requestor(http, f"{scoped.url}/mcp").send(frame("ping"))
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == challenge_of(AUDIENCE, 'scope="tasks:read tasks:run"')


@pytest.fixture
def own_issuer() -> Iterator[Issuer]:
    issuer = Issuer()
    issuer.add_key(KEY)
    yield issuer
    issuer.close()


async def until_taken(requestor: Requestor) -> None:
    """Returns when the token of ``requestor`` is taken."""
    async with asyncio.timeout(20):
        while (await requestor.send(frame("ping"))).status_code != 200:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)


async def test_an_issuer_that_goes_and_comes(http: httpx2.AsyncClient, valkey: Valkey, own_issuer: Issuer) -> None:
    """Static tokens do without it; known keys outlast it; a new key is known at its first token, made-up ones cost
    it nothing."""
    own_issuer.close()
    settings: dict[str, Any] = {"auth_issuer": own_issuer.url, "auth_audience": AUDIENCE, "auth_tokens": SCOPES}
    with Api(APP, valkey.url, namespace="away", **settings) as api:
        url = f"{api.url}/mcp"
        alice = Requestor(http, url, own_issuer.sign(KEY))
        assert (await alice.send(frame("ping"))).status_code == 401
        await Requestor(http, url, "poor-token").ask("ping")
        api.wait_for_log("issuer_keys_not_fetched")

        own_issuer.open()
        await until_taken(alice)

        own_issuer.close()
        await Requestor(http, url, own_issuer.sign(KEY, sub="bob")).ask("ping")
        forged = [Requestor(http, url, by_another_key(own_issuer, kid=str(number))) for number in range(20)]
        answers = await asyncio.gather(*(stranger.send(frame("ping")) for stranger in forged))
        assert {answer.status_code for answer in answers} == {401}
        await alice.ask("ping")

        own_issuer.paths.clear()
        own_issuer.open()
        own_issuer.add_key("second")
        await until_taken(Requestor(http, url, own_issuer.sign("second")))
        assert own_issuer.paths.count("/keys") == 1
        assert "Traceback" not in api.log


async def test_what_is_logged_of_a_refused_token(http: httpx2.AsyncClient, issued: Issued) -> None:
    """A-10: why, and nothing of the token."""
    token = issued.issuer.sign(KEY, sub="canary-subject", aud="https://canary.example.com")
    assert (await Requestor(http, issued.second_url, token).send(frame("ping"))).status_code == 401
    issued.second.wait_for_log("for another audience")
    assert "canary" not in issued.second.log
    assert not any(part in issued.second.log for part in token.split("."))
