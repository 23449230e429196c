"""What one process of several answers where: behind their common port, and on the one that it has to itself.

A page of metrics is that of a process.  Behind the common port, each scrape would find another one, and counters that
jump back and forth.
"""

import socket
from collections.abc import Awaitable

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from receiver.protocol.errors import StartupError

METRICS = "/metrics"
OWN = (METRICS, "/livez", "/readyz")
ELSEWHERE = (
    "Several processes serve this port. Each has its metrics on a port of its own: RECEIVER_METRICS_PORT, and those "
    "that follow it.\n"
)


def open_own_port(port: int | None) -> socket.socket | None:
    """What listens on a process's own port, on all addresses, as that of a worker.  StartupError if it is taken."""
    if port is None:
        return None
    try:
        return socket.create_server(("", port))
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (while ")[0]
        raise StartupError(f"RECEIVER_METRICS_PORT: can't listen on port {port}: {reason}") from None


def divide(app: ASGIApp, own: socket.socket | None) -> ASGIApp:
    """``app`` without ``/metrics``, but for requests that come to ``own``; those find it, the health, and no more."""
    port = None if own is None else own.getsockname()[1]

    def divided(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "http":
            if scope["server"][1] == port:
                if scope["path"] not in OWN:
                    return PlainTextResponse("Not Found", 404)(scope, receive, send)
            elif scope["path"] == METRICS:
                return PlainTextResponse(ELSEWHERE, 404)(scope, receive, send)
        return app(scope, receive, send)

    return divided
