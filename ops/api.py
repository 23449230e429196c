"""The API process."""

import gc
import signal
import socket
import sys
from types import FrameType

import uvicorn

from ops.arrival import make_protocol
from ops.listener import is_loopback
from receiver.app import create_app
from receiver.http.origins import LOOPBACK_HOSTS
from receiver.receiver import Receiver
from receiver.settings import Settings

GRACE_SECONDS = 3  # for requests on their way; streams that are still open then are cut, and clients come back


def make_server(app: Receiver, settings: Settings, listener: socket.socket) -> uvicorn.Server:
    """What will serve ``app`` on ``listener``.  Raises StartupError for settings that can't be meant."""
    if not settings.allowed_hosts and is_loopback(listener):
        settings = settings.model_copy(update={"allowed_hosts": LOOPBACK_HOSTS})  # a rebound name gets here too (H-03)
    config = uvicorn.Config(
        create_app(app, settings),
        log_config=None,
        access_log=False,
        lifespan="on",
        server_header=False,
        http=make_protocol(settings.receive_seconds),
        ws="none",
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    return uvicorn.Server(config)


def run_server(server: uvicorn.Server, listener: socket.socket) -> None:
    """Serves until SIGTERM or SIGINT."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _exit)  # uvicorn raises a signal once more when it has obeyed it
    gc.collect()
    gc.freeze()  # what is there now stays: no collection has to look at it again while requests wait
    server.run(sockets=[listener])


def _exit(number: int, frame: FrameType | None) -> None:
    sys.exit(0)
