"""Who may reach a server that asks nobody who they are (H-04)."""

import ipaddress
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.acceptance.commands import DEMO, RECEIVER, refusal, url_in
from tests.http.requestor import INITIALIZE, frame
from tests.processes import Child
from tests.servers import Server, find_valkey, start_server

EVERYWHERE = "0.0.0.0"  # noqa: S104 - that is the case
HOOKED = "tests.apps.authorized:hooked"
LINE = (
    f"other machines can reach {EVERYWHERE}, and nothing asks them who they are: set RECEIVER_AUTH_ISSUER or "
    "RECEIVER_AUTH_TOKENS, or RECEIVER_ALLOW_ANONYMOUS=1 if everyone may have everyone's tasks"
)
TOKENS = '{"alice-token": {"subject": "alice"}}'
BEGIN = frame("initialize", INITIALIZE)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    store = start_server(find_valkey(), tmp_path_factory.mktemp("store"), "--appendonly", "yes")
    yield store
    store.stop()


def find_address() -> str | None:
    """An address of this machine that is not of loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("203.0.113.1", 9))  # sends nothing
        except OSError:
            return None
        address: str = probe.getsockname()[0]
    return None if ipaddress.ip_address(address).is_loopback else address


def test_serving_a_network_without_authentication_is_refused(store: Server) -> None:
    variables = {"RECEIVER_REDIS_URL": store.url}
    assert refusal("serve", DEMO, "--host", EVERYWHERE, "--port", "0", env=variables) == LINE
    off = variables | {"RECEIVER_ALLOW_ANONYMOUS": "0", "RECEIVER_AUTH_TOKENS": "{}"}
    assert refusal("serve", DEMO, "--host", EVERYWHERE, "--port", "0", env=off) == LINE
    if address := find_address():
        said = refusal("serve", DEMO, "--host", address, "--port", "0", env=variables)
        assert said == LINE.replace(EVERYWHERE, address)


def test_dev_refuses_it_too(tmp_path: Path) -> None:
    variables = {"RECEIVER_DATA_DIR": str(tmp_path / "data")}
    assert refusal("dev", DEMO, "--host", EVERYWHERE, "--port", "0", "--workers", "0", env=variables) == LINE


@pytest.mark.parametrize(
    ("app", "variables", "status"),
    [
        (DEMO, {"RECEIVER_ALLOW_ANONYMOUS": "1"}, 200),
        (DEMO, {"RECEIVER_AUTH_TOKENS": TOKENS}, 401),
        (DEMO, {"RECEIVER_AUTH_ISSUER": "http://127.0.0.1:1", "RECEIVER_AUTH_AUDIENCE": "x"}, 401),
        (HOOKED, {}, 401),
    ],
)
def test_it_is_served_where_someone_asks_or_it_is_meant_so(
    store: Server, app: str, variables: dict[str, str], status: int
) -> None:
    """A warning says what it means."""
    command = [*RECEIVER, "serve", app, "--host", EVERYWHERE, "--port", "0"]
    with Child(command, env={"RECEIVER_REDIS_URL": store.url, **variables}) as api:
        answer = httpx2.post(f"{url_in(api, app)}/mcp", json=BEGIN, headers={"host": "mcp.example.com"})
        assert answer.status_code == status
        warned = f"who reaches {EVERYWHERE} may see and cancel all tasks" in api.log
        assert warned == ("RECEIVER_ALLOW_ANONYMOUS" in variables)


def test_loopback_needs_no_leave(store: Server) -> None:
    """But its names: a page may have rebound its own to it."""
    for variables in ({}, {"RECEIVER_ALLOW_ANONYMOUS": "1"}, {"RECEIVER_AUTH_TOKENS": TOKENS}):
        command = [*RECEIVER, "serve", DEMO, "--port", "0"]
        with Child(command, env={"RECEIVER_REDIS_URL": store.url, **variables}) as api:
            url = f"{url_in(api)}/mcp"
            headers = {"authorization": "Bearer alice-token"}
            assert httpx2.post(url, json=BEGIN, headers=headers).status_code == 200
            rebound = httpx2.post(url, json=BEGIN, headers={**headers, "host": "evil.example.com"})
            assert rebound.status_code == 403
            assert "who reaches" not in api.log


@pytest.mark.parametrize(
    ("variables", "line"),
    [
        (
            {"RECEIVER_AUTH_ISSUER": "https://issuer.example.com"},
            "set RECEIVER_AUTH_AUDIENCE to what tokens for this server have in their claim aud",
        ),
        (
            {"RECEIVER_AUTH_SCOPES": "tasks:run"},
            "RECEIVER_AUTH_SCOPES asks for scopes, and nothing says who has them",
        ),
        (
            {"RECEIVER_ALLOWED_HOSTS": "https://mcp.example.com"},
            "RECEIVER_ALLOWED_HOSTS: 'https://mcp.example.com' is not a host name, with or without a port",
        ),
        (
            {"RECEIVER_ALLOWED_ORIGINS": "mcp.example.com"},
            "RECEIVER_ALLOWED_ORIGINS: 'mcp.example.com' is not an origin, like https://example.com",
        ),
        (
            {"RECEIVER_AUTH_JWKS_URL": "https://issuer.example.com/keys"},
            "bad settings: set RECEIVER_AUTH_ISSUER too, or neither RECEIVER_AUTH_AUDIENCE nor _JWKS_URL",
        ),
        ({"RECEIVER_AUTH_TOKENS": '{"canary": 1'}, "bad settings: error parsing value for field"),
    ],
)
def test_settings_that_would_leave_a_door_open(store: Server, variables: dict[str, str], line: str) -> None:
    said = refusal("serve", DEMO, "--port", "0", env={"RECEIVER_REDIS_URL": store.url, **variables})
    assert said.startswith(line)
    assert "canary" not in said
