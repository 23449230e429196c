"""The socket that the API listens on: opened before the API starts, so that a port in use is known at once."""

import asyncio
import errno
import socket
import sys
from ipaddress import ip_address
from typing import Any

from receiver.protocol.errors import StartupError

BACKLOG = 2048
ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - what to connect to where a socket listens anywhere
READY_SECONDS = 5.0


def open_listener(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one.  Raises StartupError if it can't be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise _explain(error, host, port) from None


def open_shared(host: str, port: int) -> socket.socket:
    """A socket to be inherited by processes that serve one port: see ``adopt``.  Raises as ``open_listener`` does.

    Where several processes wait at one listening socket, whoever is awake takes what comes: most of the connections.
    Linux spreads them by itself over sockets of the same address, so that this one only holds the place.  Other
    systems give all to the socket that came last, or to the first; there the processes do share one.
    """
    listener = open_listener(host, port)  # and not the one below at once, which others that share a port would let in
    if sys.platform != "linux":
        return listener
    address = listener.getsockname()
    listener.close()
    return _take_place(listener.family, address)


def adopt(fd: int) -> socket.socket:
    """The listener that was inherited as ``fd``; one of this process's own at its address if that holds the place."""
    inherited = socket.socket(fileno=fd)
    if inherited.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        return inherited
    return _take_place(inherited.family, inherited.getsockname())


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


async def answers(host: str, port: int, path: str = "/readyz") -> bool:
    """Whether ``path`` answers 200."""
    try:
        async with asyncio.timeout(READY_SECONDS):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(b"GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % path.encode())
                return (await reader.readline()).split()[1:2] == [b"200"]
            finally:
                writer.close()
    except OSError:  # a timeout too: not yet
        return False


def _take_place(family: int, address: tuple[Any, ...]) -> socket.socket:
    """A bound socket that does not listen: whoever serves on it has it do so when there is something to serve."""
    taken = socket.socket(family)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            taken.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)  # as create_server has it
        taken.bind(address)
    except OSError as error:
        taken.close()
        raise _explain(error, *address[:2]) from None
    return taken


def _explain(error: OSError, host: str, port: int) -> StartupError:
    if error.errno == errno.EADDRINUSE:
        return StartupError(f"port {port} of {host} is in use; choose another one with --port")
    reason = str(error.strerror or error).partition(" (while ")[0]  # create_server adds the address to it
    return StartupError(f"can't listen on port {port} of {host}: {reason}")
