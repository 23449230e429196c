"""Host and Origin on the wire (H-03); ``tests/unit/test_origins.py`` has every way to write them."""

import json
from collections.abc import Iterator

import httpx2
import pytest

from tests.http.conftest import Deployment
from tests.http.raw import Reply, exchange
from tests.http.requestor import Requestor, frame
from tests.processes import Api, Valkey

APP = "tests.apps.wire:app"
PING = json.dumps(frame("ping")).encode()
VERBS = ["POST", "GET", "DELETE", "OPTIONS", "PUT"]
FOREIGN_HOST = "This Host is not served here; RECEIVER_ALLOWED_HOSTS names those that are"
FOREIGN_ORIGIN = "This Origin may not ask here; RECEIVER_ALLOWED_ORIGINS names those that may"


async def ask(url: str, *headers: str, target: str = "/mcp", method: str = "POST", version: str = "1.1") -> Reply:
    """The reply to a ping with these headers and no other Host."""
    length = [f"Content-Length: {len(PING)}", "Content-Type: application/json"]
    return await exchange(url, [*headers, *length], PING, method=method, head=f"{method} {target} HTTP/{version}")


def said(reply: Reply) -> object:
    return json.loads(reply.body)["error"]["message"]


@pytest.mark.parametrize("verb", VERBS)
async def test_a_page_from_elsewhere(anonymous: Deployment, verb: str) -> None:
    """H-03, F5: HTTP 403 and a JSON-RPC error without an id, on every method; nothing allows a browser to go on."""
    reply = await ask(anonymous.url, "Host: localhost", "Origin: http://evil.example.com", method=verb)
    assert reply.status == 403
    error = {"code": -32600, "message": FOREIGN_ORIGIN}
    assert json.loads(reply.body) == {"jsonrpc": "2.0", "error": error}
    assert not any(name.startswith("access-control-") for name in reply.headers)


@pytest.mark.parametrize("verb", VERBS)
async def test_a_name_that_was_rebound(anonymous: Deployment, verb: str) -> None:
    """H-03, F5: the page's own name, which leads to this machine now."""
    port = anonymous.api.port
    headers = [f"Host: evil.example.com:{port}", f"Origin: http://evil.example.com:{port}"]
    for given in (headers, headers[:1]):
        reply = await ask(anonymous.url, *given, method=verb)
        assert (reply.status, said(reply)) == (403, FOREIGN_HOST)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST"])
@pytest.mark.parametrize("origin", [None, "http://localhost:6274", "http://127.0.0.1", "http://[::1]:8000"])
async def test_this_machine(anonymous: Deployment, host: str, origin: str | None) -> None:
    headers = [f"Host: {host}", *([] if origin is None else [f"Origin: {origin}"])]
    assert (await ask(anonymous.url, *headers)).status == 200


async def test_a_request_without_a_host(anonymous: Deployment) -> None:
    """No browser sends one."""
    assert (await ask(anonymous.url, version="1.0")).status == 200
    assert (await ask(anonymous.url, "Origin: http://evil.example.com", version="1.0")).status == 403


@pytest.mark.parametrize(
    "headers",
    [
        ["Host: localhost", "Host: localhost"],
        ["Host: localhost", "Host: evil.example.com"],
        ["Host: x/admin?"],
        ["Host: localhost@evil.example.com"],
        ["Host:"],
    ],
)
async def test_a_host_that_is_none(anonymous: Deployment, headers: list[str]) -> None:
    """RFC 9112, 3.2; F6: the path is never taken from it."""
    assert (await ask(anonymous.url, *headers)).status == 400


async def test_two_origins(anonymous: Deployment) -> None:
    origins = ["Origin: http://localhost", "Origin: http://localhost"]
    assert (await ask(anonymous.url, "Host: localhost", *origins)).status == 403


async def test_a_whole_url_as_the_target(anonymous: Deployment) -> None:
    """RFC 9112, 3.2.2: a proxy's form.  Host is checked all the same."""
    target = f"http://localhost:{anonymous.api.port}/mcp"
    assert (await ask(anonymous.url, "Host: localhost", target=target)).status == 200
    assert (await ask(anonymous.url, "Host: evil.example.com", target=target)).status == 403
    assert (await ask(anonymous.url, "Host: localhost", target="http://localhost/other")).status == 404


async def test_who_is_not_known_and_comes_from_elsewhere(http: httpx2.AsyncClient, tokened: Deployment) -> None:
    """Where a request comes from is looked at first; on loopback a token is no excuse."""
    for token in (None, "alice-token"):
        requestor = Requestor(http, tokened.url, token)
        assert (await requestor.send(frame("ping"), {"host": "evil.example.com"})).status_code == 403
        assert (await requestor.send(frame("ping"), {"origin": "null"})).status_code == 403


async def test_health_is_not_asked_where_it_comes_from(http: httpx2.AsyncClient, anonymous: Deployment) -> None:
    """Load balancers name all kinds of hosts."""
    response = await http.get(f"{anonymous.api.url}/livez", headers={"host": "10.0.0.1"})
    assert response.status_code == 200


@pytest.fixture(scope="module")
def named(valkey: Valkey) -> Iterator[Api]:
    """Behind a proxy of this machine."""
    hosts, origins = "mcp.example.com,other.example.com:8443", "https://app.example.com"
    settings = {"resource_url": "https://tools.example.com/mcp", "allowed_hosts": hosts, "allowed_origins": origins}
    with Api(APP, valkey.url, env={f"RECEIVER_{name.upper()}": value for name, value in settings.items()}) as api:
        yield api


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("mcp.example.com", None, 200),
        ("mcp.example.com:8000", "https://mcp.example.com", 200),
        ("mcp.example.com", "https://app.example.com", 200),
        ("mcp.example.com", "http://app.example.com", 403),
        ("mcp.example.com", "http://localhost", 403),
        ("tools.example.com", "https://tools.example.com", 200),
        ("other.example.com:8443", None, 200),
        ("other.example.com", None, 403),
        ("localhost", None, 403),
        ("127.0.0.1", None, 403),
    ],
)
async def test_names_that_were_set(named: Api, host: str, origin: str | None, status: int) -> None:
    headers = [f"Host: {host}", *([] if origin is None else [f"Origin: {origin}"])]
    assert (await ask(named.url, *headers)).status == status


@pytest.fixture(scope="module", params=["tokens", "anonymous"])
def reachable(valkey: Valkey, request: pytest.FixtureRequest) -> Iterator[tuple[Api, list[str]]]:
    """Listens on all addresses, with tokens or meant to be open; and the credentials that it takes."""
    has_tokens = request.param == "tokens"
    tokens = '{"alice-token": {"subject": "alice"}}' if has_tokens else "{}"
    variables = {"RECEIVER_AUTH_TOKENS": tokens, "RECEIVER_ALLOW_ANONYMOUS": "0" if has_tokens else "1"}
    with Api(APP, valkey.url, host="0.0.0.0", env=variables) as api:  # noqa: S104 - that is the case
        yield api, ["Authorization: Bearer alice-token"] if has_tokens else []


async def test_on_a_network_any_name_is_served(reachable: tuple[Api, list[str]]) -> None:
    """No page can add a token to what it asks; where there is none, only pages that are named may ask at all."""
    api, credentials = reachable
    for host in ("mcp.example.com", "10.0.0.1:8000"):
        assert (await ask(api.url, f"Host: {host}", *credentials)).status == 200
        own = await ask(api.url, f"Host: {host}", f"Origin: http://{host}", *credentials)
        assert own.status == (200 if credentials else 403)
        foreign = await ask(api.url, f"Host: {host}", "Origin: http://evil.example.com", *credentials)
        assert (foreign.status, said(foreign)) == (403, FOREIGN_ORIGIN)
    assert (await ask(api.url, "Host: x/admin?", *credentials)).status == 400
