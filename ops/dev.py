"""``receiver dev``: which processes there are, and what is said when they serve.

The API listens on a socket that the supervisor keeps: while the API is started again, no connection is refused.
"""

import asyncio
import os
import socket
from functools import partial
from pathlib import Path

from ops.child import MARGIN_SECONDS, Child, receiver_command
from ops.embedded import EmbeddedServer
from ops.hints import hints_for
from ops.listener import address_of, answers, is_loopback, url_of
from ops.reload import find_folder, watch
from ops.report import VARIABLE, Reports
from ops.supervisor import Supervisor, say
from receiver.settings import Settings

GRACE_SECONDS = "2"  # unless set: whoever waits for Ctrl-C to take effect is a person
LOOK_SECONDS = 0.05


def run_dev(app: str, settings: Settings, listener: socket.socket, *, workers: int, reload: bool) -> int:
    """Runs the API and ``workers`` workers of ``app``, a name, until it is told to stop; returns the exit code."""
    folder = find_folder(app) if reload else None
    server = None if settings.redis_url else EmbeddedServer(settings.data_dir)
    reports = Reports()
    children = _children(app, listener, workers, reports, server, settings.metrics_port)
    supervisor = Supervisor(children, reports, server)
    duties = [partial(_announce, app, listener, server, "/readyz" if workers else "/livez")]
    if folder is not None:
        duties.append(partial(_follow_changes, folder, supervisor))
    return supervisor.run(*duties)


def _children(
    app: str,
    listener: socket.socket,
    workers: int,
    reports: Reports,
    server: EmbeddedServer | None,
    metrics_port: int | None,
) -> list[Child]:
    env = os.environ | {VARIABLE: str(reports.write_end), "RECEIVER_API_PROCESSES": "1"}
    env["RECEIVER_DRAIN_SECONDS"] = "0"  # no load balancer is there
    env.setdefault("RECEIVER_LOG_LEVEL", "debug")
    grace = env.setdefault("RECEIVER_SHUTDOWN_GRACE_SECONDS", GRACE_SECONDS)
    if server is not None:
        env["RECEIVER_REDIS_URL"] = server.url
    make = partial(Child, patience=float(grace) + MARGIN_SECONDS)
    fd, report = listener.fileno(), reports.write_end
    children = [make("the API", receiver_command("serve", app, "--fd", str(fd)), fds=(fd, report), env=env)]
    for n in range(workers):
        own = {} if metrics_port is None else {"RECEIVER_METRICS_PORT": str(metrics_port + n)}  # one port serves one
        children.append(make(f"worker {n + 1}", receiver_command("work", app), fds=(report,), env=env | own))
    return children


async def _announce(app: str, listener: socket.socket, server: EmbeddedServer | None, path: str) -> None:
    while not await answers(*address_of(listener), path):  # noqa: ASYNC110 - another process, which tells nobody
        await asyncio.sleep(LOOK_SECONDS)
    url = f"{url_of(listener)}/mcp"
    said = [f"Serving {app} at {url}"]
    if is_loopback(listener):  # elsewhere it is there only where tokens or an issuer are
        said.append(f"The console is at {url_of(listener)}/console/")
    print("\n".join([*said, *hints_for(app, url, server)]), flush=True)


async def _follow_changes(folder: Path, supervisor: Supervisor) -> None:
    async for path in watch(folder):
        say(f"{path} changed; starting again")
        await supervisor.restart()
