"""The socket that the API listens on: opened before the API starts, so that a port in use is known at once."""

import errno
import socket
from ipaddress import ip_address

from receiver.protocol.errors import StartupError

BACKLOG = 2048
ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - what to connect to where a socket listens anywhere


def open_listener(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one.  Raises StartupError if it can't be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise StartupError(f"port {port} of {host} is in use; choose another one with --port") from None
        reason = str(error.strerror or error).partition(" (while ")[0]  # create_server adds the address to it
        raise StartupError(f"can't listen on port {port} of {host}: {reason}") from None


def address_of(listener: socket.socket) -> tuple[str, int]:
    """Where to connect to."""
    host, port = listener.getsockname()[:2]
    return ANY_ADDRESS.get(host, host), port


def url_of(listener: socket.socket) -> str:
    """The same, as the beginning of a URL."""
    host, port = address_of(listener)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_loopback(listener: socket.socket) -> bool:
    """Whether only this machine can connect to it."""
    return ip_address(listener.getsockname()[0]).is_loopback
