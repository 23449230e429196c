"""``receiver serve`` with several processes: each an API node of its own, all of them behind one port."""

import asyncio
import os
import socket
from functools import partial

from ops.api import GRACE_SECONDS
from ops.child import MARGIN_SECONDS, Child, receiver_command
from ops.listener import address_of, answers, open_shared, url_of
from ops.report import VARIABLE, Reports
from ops.supervisor import Supervisor
from receiver.settings import Settings

LOOK_SECONDS = 0.05


def run_processes(app: str, settings: Settings, host: str, port: int) -> int:
    """Serves ``app``, a name, until it is told to stop; returns the exit code.  Raises StartupError."""
    listener = open_shared(host, port)
    reports = Reports()
    children = [_make_child(app, settings, listener, reports, n) for n in range(settings.api_processes)]
    return Supervisor(children, reports).run(partial(_announce, app, listener))


def _make_child(app: str, settings: Settings, listener: socket.socket, reports: Reports, n: int) -> Child:
    env = {VARIABLE: str(reports.write_end), "RECEIVER_API_PROCESSES": str(settings.api_processes)}
    if settings.metrics_port is not None:
        env["RECEIVER_METRICS_PORT"] = str(settings.metrics_port + n)
    return Child(
        f"API process {n + 1}",
        receiver_command("serve", app, "--fd", str(listener.fileno())),
        patience=settings.drain_seconds + GRACE_SECONDS + MARGIN_SECONDS,
        env=os.environ | env,
        fds=(listener.fileno(), reports.write_end),
    )


async def _announce(app: str, listener: socket.socket) -> None:
    while not await answers(*address_of(listener), "/livez"):  # noqa: ASYNC110 - other processes, which tell nobody
        await asyncio.sleep(LOOK_SECONDS)
    print(f"Serving {app} at {url_of(listener)}/mcp", flush=True)
