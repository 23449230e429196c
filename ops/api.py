"""An API process."""

import gc
import signal
import socket
import sys
import time
from collections.abc import Sequence
from types import FrameType

import uvicorn

from ops.arrival import make_protocol
from ops.console.app import make_console
from ops.console.mounting import mount
from ops.listener import is_loopback, url_of
from ops.partition import divide, open_own_port
from receiver.app import Application, create_app
from receiver.http.origins import LOOPBACK_HOSTS
from receiver.receiver import Receiver
from receiver.settings import Settings

# Hardly anything is left in cycles here, and to search ten thousand requests that wait holds up all others for 0.5 s.
COLLECTS = (2_000, 10, 1_000)
GRACE_SECONDS = 3  # for requests on their way; streams that are still open then are cut, and clients come back


class Server(uvicorn.Server):
    """Goes on to serve for ``drain_seconds`` after the first signal; a second one ends that."""

    def __init__(self, config: uvicorn.Config, served: Application, drain_seconds: float) -> None:
        super().__init__(config)
        self._served = served
        self._drain_seconds = drain_seconds
        self._is_asked_to_end = False
        self._ends_at: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal: may interrupt anything, so that what follows from it is left to the next tick."""
        if self._is_asked_to_end or not self.started:
            super().handle_exit(sig, frame)
        self._is_asked_to_end = True

    async def on_tick(self, counter: int) -> bool:
        """Called ten times a second; returns whether to end now."""
        if self._is_asked_to_end and self._ends_at is None:
            self._ends_at = time.monotonic() + self._drain_seconds
            self._served.drain()
        if self._ends_at is not None and time.monotonic() >= self._ends_at:
            self.should_exit = True
        return await super().on_tick(counter)


def make_server(
    app: Receiver, settings: Settings, listener: socket.socket
) -> tuple[uvicorn.Server, Sequence[socket.socket]]:
    """What will serve ``app``, and where: on ``listener``, and on one of its own where it is one process of several.

    Raises StartupError for settings that can't be meant.
    """
    if not settings.allowed_hosts and is_loopback(listener):
        settings = settings.model_copy(update={"allowed_hosts": LOOPBACK_HOSTS})  # a rebound name gets here too (H-03)
    served = create_app(app, settings, url=url_of(listener))
    console = make_console(settings, app, is_local=is_loopback(listener))
    whole = served if console is None else mount(served, console)
    own = None
    if settings.api_processes > 1:
        own = open_own_port(settings.metrics_port)
        whole = divide(whole, own)
    config = uvicorn.Config(
        whole,
        interface="asgi3",
        log_config=None,
        access_log=False,
        lifespan="on",
        server_header=False,
        http=make_protocol(settings.receive_seconds),
        ws="none",
        timeout_keep_alive=settings.keep_alive_seconds,  # type: ignore[arg-type] # goes to loop.call_later
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    return Server(config, served, settings.drain_seconds), [listener] if own is None else [listener, own]


def run_server(server: uvicorn.Server, listeners: Sequence[socket.socket]) -> None:
    """Serves until SIGTERM or SIGINT."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _exit)  # uvicorn raises a signal once more when it has obeyed it
    gc.collect()
    gc.freeze()  # what is there now stays: no collection has to look at it again while requests wait
    gc.set_threshold(*COLLECTS)
    server.run(sockets=list(listeners))


def _exit(number: int, frame: FrameType | None) -> None:
    sys.exit(0)
