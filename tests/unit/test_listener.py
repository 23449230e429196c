"""The socket of the API, and what is said when it can't be had."""

import socket

import pytest

from ops.listener import is_loopback, open_listener, url_of
from receiver.protocol.errors import StartupError


def test_port_0_takes_a_free_port() -> None:
    with open_listener("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        assert url_of(listener) == f"http://127.0.0.1:{port}"
        socket.create_connection(("127.0.0.1", port)).close()


def test_a_port_in_use() -> None:
    with open_listener("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(StartupError, match=f"^port {port} of 127.0.0.1 is in use; choose another one with --port$"):
            open_listener("127.0.0.1", port)


@pytest.mark.parametrize("host", ["203.0.113.1", "no such host"])
def test_an_address_that_is_not_here(host: str) -> None:
    with pytest.raises(StartupError, match=rf"^can't listen on port 0 of {host}: [^(]+$"):
        open_listener(host, 0)


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("0.0.0.0", "127.0.0.1"),  # noqa: S104 - that is the case
        ("::1", "[::1]"),
        ("::", "[::1]"),
        ("localhost", "127.0.0.1"),
    ],
)
def test_the_url_is_one_to_connect_to(host: str, shown: str) -> None:
    if ":" in host and not socket.has_dualstack_ipv6():
        pytest.skip("no IPv6 here")
    with open_listener(host, 0) as listener:
        assert url_of(listener) == f"http://{shown}:{listener.getsockname()[1]}"


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.0.0.2", True),
        ("localhost", True),
        ("::1", True),
        ("0.0.0.0", False),  # noqa: S104 - that is the case
        ("::", False),
    ],
)
def test_whether_only_this_machine_can_connect(host: str, expected: bool) -> None:
    if ":" in host and not socket.has_dualstack_ipv6():
        pytest.skip("no IPv6 here")
    with open_listener(host, 0) as listener:
        assert is_loopback(listener) is expected
