"""The API process."""

import signal
import socket
import sys
from types import FrameType

import uvicorn

from receiver.app import create_app
from receiver.receiver import Receiver
from receiver.settings import Settings

GRACE_SECONDS = 3  # for requests on their way; streams that are still open then are cut, and clients come back


def serve_api(app: Receiver, settings: Settings, listener: socket.socket) -> None:
    """Serves ``app`` until SIGTERM or SIGINT."""
    config = uvicorn.Config(
        create_app(app, settings),
        log_config=None,
        access_log=False,
        lifespan="on",
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _exit)  # uvicorn raises a signal once more when it has obeyed it
    uvicorn.Server(config).run(sockets=[listener])


def _exit(number: int, frame: FrameType | None) -> None:
    sys.exit(0)
