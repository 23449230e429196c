"""Host and Origin (H-03, F5): which are served, whatever way they are written."""

from collections.abc import Collection

import pytest

from receiver.http.origins import LOOPBACK_HOSTS, Origins
from receiver.http.refusal import Refusal
from receiver.protocol.errors import StartupError

NAMED = ("mcp.example.com", "tools.example.com:8443", "[2001:db8::1]")


def status(
    host: str | None,
    origin: str | None = None,
    *,
    hosts: Collection[str] = LOOPBACK_HOSTS,
    origins: Collection[str] = (),
    trusts_any_host: bool = False,
) -> int:
    """200, or the status of the refusal; the same when the pair is asked for again."""
    guard = Origins(hosts, origins, trusts_any_host=trusts_any_host)
    given = {b"host": host, b"origin": origin}
    headers = {name: value.encode("latin-1") for name, value in given.items() if value is not None}
    statuses = []
    for _ in range(2):
        try:
            guard.check(headers)
            statuses.append(200)
        except Refusal as refusal:
            statuses.append(refusal.status)
    assert statuses[0] == statuses[1]
    return statuses[0]


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:8000",
        "LOCALHOST:1",
        "127.0.0.1",
        "127.0.0.1:65535",
        "[::1]",
        "[::1]:8000",
        "[0:0:0:0:0:0:0:1]:8000",
        "localhost:",
    ],
)
def test_the_names_of_loopback(host: str) -> None:
    assert status(host) == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example.com",
        "evil.example.com:8000",
        "localhost.evil.example.com",
        "evil-localhost",
        "localhost.",
        "127.0.0.1.",
        "127.0.0.1.nip.example.com",
        "127.0.0.2",
        "127.1",
        "2130706433",
        "0.0.0.0",  # noqa: S104 - that is the case
        "[::]",
        "[::ffff:127.0.0.1]",
        "[2001:db8::1]",
    ],
)
def test_other_names(host: str) -> None:
    """Whatever they resolve to."""
    assert status(host) == 403


@pytest.mark.parametrize(
    "host",
    [
        "",
        " ",
        "localhost, localhost",  # two headers
        "evil.example.com, localhost",
        "user@localhost",
        "localhost:password@evil.example.com",
        "localhost/",
        "localhost/admin?",
        "x/admin?",
        "localhost#",
        "localhost:80:80",
        "localhost:x",
        "localhost:-1",
        "localhost:123456",
        "localhost:\u00b2",
        "http://localhost",
        "::1",
        "[::1",
        "[::1]x",
        "[]",
        "[:::1]",
        "[::1%lo]",
        "loc%61lhost",
        "localhost\x00",
        "l\u00f6calhost",
        "null",
        "a" * 2000,
    ],
)
def test_what_is_no_host(host: str) -> None:
    """RFC 9112, 3.2: also where every name is served; F6."""
    expected = 403 if host == "null" else 400
    assert status(host) == expected
    assert status(host, hosts=["*"]) == (200 if host == "null" else 400)


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost",
        "http://localhost:6274",
        "https://localhost:8000",
        "HTTP://LOCALHOST:80",
        "http://127.0.0.1:3000",
        "http://[::1]:3000",
    ],
)
def test_pages_of_this_machine(origin: str) -> None:
    assert status("localhost:8000", origin) == 200
    assert status(None, origin) == 200


ODD_ORIGINS = [
    "",
    "null",
    "*",
    "localhost",
    "//localhost",
    "http:localhost",
    "http://",
    "http://localhost/",
    "http://localhost@evil.example.com",
    "http://evil.example.com@localhost",
    "http://localhost.",
    "http://localhost.evil.example.com",
    "http://localhost, http://localhost",
    "http://localhost http://evil.example.com",
    "http://localhost:x",
    "http://[::1",
    "http://127.1",
    "http://" + "a" * 2000,
]


@pytest.mark.parametrize("origin", ["http://evil.example.com", "https://evil.example.com:8000", *ODD_ORIGINS])
def test_other_pages(origin: str) -> None:
    """H-03: refused, though Host is right, and though there is none."""
    expected = 400 if len(origin) > 1024 else 403
    assert status("localhost:8000", origin) == expected
    assert status(None, origin) == expected
    assert status("localhost:8000", origin, origins=["https://app.example.com"]) == expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("mcp.example.com", 200),
        ("mcp.example.com:443", 200),
        ("MCP.example.com:1", 200),
        ("tools.example.com:8443", 200),
        ("tools.example.com", 403),
        ("tools.example.com:443", 403),
        ("[2001:DB8:0::1]:443", 200),
        ("localhost", 403),
        ("example.com", 403),
        ("mcp.example.com.", 403),
        ("x.mcp.example.com", 403),
    ],
)
def test_hosts_that_are_named(host: str, expected: int) -> None:
    """Without a port any will do."""
    assert status(host, hosts=NAMED) == expected


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("https://mcp.example.com", 200),
        ("https://tools.example.com:8443", 200),
        ("https://tools.example.com", 403),
        ("https://app.example.com", 200),
        ("https://app.example.com:443", 200),
        ("HTTPS://App.Example.com", 200),
        ("http://app.example.com", 403),
        ("https://app.example.com:8443", 403),
        ("https://x.app.example.com", 403),
        ("http://dev.example.com:3000", 200),
        ("http://dev.example.com", 403),
        ("vscode-webview://1a2b", 200),
        ("vscode-webview://1a2c", 403),
        ("http://localhost", 403),
        ("null", 403),
    ],
)
def test_origins_that_are_named(origin: str, expected: int) -> None:
    """Those of allowed hosts are so too."""
    origins = ["https://APP.example.com:443", "http://dev.example.com:3000", "vscode-webview://1a2b"]
    assert status("mcp.example.com", origin, hosts=NAMED, origins=origins) == expected


@pytest.mark.parametrize("origin", ["http://evil.example.com", *ODD_ORIGINS[:-1]])
def test_all_origins(origin: str) -> None:
    assert status("localhost", origin, origins=["*"]) == 200
    assert status("evil.example.com", origin, origins=["*"]) == 403


@pytest.mark.parametrize("hosts", [[], ["*"], ["x", "*"]])
@pytest.mark.parametrize("host", ["mcp.example.com", "10.0.0.1:8000", "[2001:db8::1]", "my_service:8000"])
def test_all_hosts(host: str, hosts: list[str]) -> None:
    assert status(host, hosts=hosts) == 200


@pytest.mark.parametrize(
    ("host", "origin", "is_same"),
    [
        ("mcp.example.com", "https://mcp.example.com", True),
        ("MCP.example.com", "http://mcp.EXAMPLE.com", True),
        ("mcp.example.com:8000", "http://mcp.example.com:8000", True),
        ("mcp.example.com:443", "https://mcp.example.com", True),
        ("mcp.example.com", "https://mcp.example.com:443", True),
        ("[2001:db8::1]:80", "http://[2001:DB8:0::1]", True),
        ("mcp.example.com:8000", "http://mcp.example.com", False),
        ("mcp.example.com", "http://mcp.example.com:8000", False),
        ("mcp.example.com:80", "https://mcp.example.com", False),
        ("mcp.example.com", "https://evil.example.com", False),
        ("mcp.example.com", "null", False),
        (None, "http://mcp.example.com", False),
    ],
)
def test_a_page_of_the_server_itself(host: str | None, origin: str, is_same: bool) -> None:
    """Where any host will do, the name says nothing: it may be one that was bound to this address a moment ago."""
    assert status(host, origin, hosts=[], trusts_any_host=True) == (200 if is_same else 403)
    assert status(host, origin, hosts=[], trusts_any_host=False) == 403


@pytest.mark.parametrize("given", ["https://mcp.example.com", "mcp.example.com/", "a b", "*.example.com", "::1", ""])
def test_a_host_that_cannot_be_meant(given: str) -> None:
    with pytest.raises(StartupError, match=r"^RECEIVER_ALLOWED_HOSTS: '.*' is not a host name, with or"):
        Origins([given], [], trusts_any_host=False)


@pytest.mark.parametrize("given", ["mcp.example.com", "https://mcp.example.com/", "https://*.example.com", "null"])
def test_an_origin_that_cannot_be_meant(given: str) -> None:
    with pytest.raises(StartupError, match=r"^RECEIVER_ALLOWED_ORIGINS: '.*' is not an origin, like https://example"):
        Origins([], [given], trusts_any_host=False)


def test_a_flood_of_names_fills_no_memory() -> None:
    """Verdicts are remembered, but not all of them."""
    guard = Origins(LOOPBACK_HOSTS, [], trusts_any_host=False)
    for number in range(5000):
        with pytest.raises(Refusal):
            guard.check({b"host": b"host%d" % number})
    guard.check({b"host": b"localhost"})
    assert guard._judge.cache_info().currsize <= 1024
