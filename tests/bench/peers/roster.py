"""Who is measured: this server, the floor of its stack, and the peers, each as its authors would run it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

from ops.bench.requestor import VERSION, Requestor, Target
from tests.bench.peers.installation import SOURCES, install_node, install_python, version_of
from tests.bench.peers.wire import MODERN, ModernPoller, Opener, Poller, poll_every
from tests.bench.subject import ARGUMENTS, TOOL, Subject, run_floor, run_receiver
from tests.processes import Child, Site, Valkey, find_free_port

BLOCKING: Mapping[str, Opener] = {"": Requestor.open}
UVICORN = ("--loop", "uvloop", "--http", "httptools", "--no-access-log", "--log-level", "error")
WORKERS = {
    "fastmcp3": ("fastmcp", "tasks", "worker"),
    "fastmcp4": ("python", "-m", "fastmcp_tasks.worker_cli", "worker"),
}
PAUSES = (2, 20, 100)  # ms; short ones find a result early, long ones leave the server its CPU


@dataclass(frozen=True, eq=False)
class Contestant:
    """``ways`` to wait for a result, by what they are called: all are tried, and the best one is what counts."""

    title: str
    wire: str
    run: Callable[[Path], AbstractContextManager[Subject]]
    ways: Mapping[str, Opener]


def gather_contestants(told: Callable[[str], object]) -> list[Contestant]:
    """This server first.  NotInstalled if a peer can't be had."""
    told("installing the peers")
    fastmcp3, fastmcp4, python = (install_python(name) for name in ("fastmcp3", "fastmcp4", "python_sdk"))
    typescript = install_node("typescript_sdk")
    titles = [
        f"FastMCP {version_of('fastmcp', 'fastmcp3')} + Docket, Redis",
        f"FastMCP {version_of('fastmcp', 'fastmcp4')} + fastmcp-tasks, Redis",
        f"Python SDK {version_of('mcp', 'python_sdk')}, in memory",
        f"TypeScript SDK {version_of('@modelcontextprotocol/sdk', 'typescript_sdk')}, in memory",
    ]
    return [
        Contestant(f"mcp-task-receiver {version('mcp-task-receiver')}, Redis", VERSION, run_receiver, BLOCKING),
        Contestant("the floor (no worker), Redis", VERSION, run_floor, BLOCKING),
        Contestant(titles[0], VERSION, partial(_run_on_docket, "fastmcp3", fastmcp3), make_polled(Poller)),
        Contestant(titles[1], MODERN, partial(_run_on_docket, "fastmcp4", fastmcp4), make_polled(ModernPoller)),
        Contestant(titles[2], VERSION, partial(_run_in_memory, _serve_app("python_sdk", python)), BLOCKING),
        Contestant(titles[3], VERSION, partial(_run_in_memory, typescript), BLOCKING),
    ]


def make_polled(kind: type[Poller]) -> Mapping[str, Opener]:
    """Ways to wait with a poller, by their names."""
    return {f"polled every {pause} ms": poll_every(pause / 1000, kind) for pause in PAUSES}


@contextmanager
def _run_on_docket(name: str, programs: Path, folder: Path) -> Iterator[Subject]:
    """A server, and a worker beside the one that it has in its process."""
    with ExitStack() as stack:
        valkey = stack.enter_context(Valkey(folder))
        # redis-py gives up beyond 100 connections, and FastMCP 3 wants more with 64 sessions: each has a subscriber.
        env = {"FASTMCP_DOCKET_URL": f"{valkey.url}?max_connections=10000", "FASTMCP_LOG_ENABLED": "false"}
        program, *words = WORKERS[name]
        worker = stack.enter_context(Child([programs / program, *words, SOURCES / name / "server.py"], env=env))
        worker.wait_for_log("Concurrency")
        site = stack.enter_context(_serve(_serve_app(name, programs), env))
        yield _make_subject(site, {"worker": [worker], "redis": [valkey]})


@contextmanager
def _run_in_memory(command: Sequence[str], _: Path) -> Iterator[Subject]:
    with _serve(command, {"NODE_ENV": "production"}) as site:
        yield _make_subject(site, {})


def _serve_app(name: str, programs: Path) -> list[str]:
    """The command of the application in ``name/server.py``, but for its port."""
    app = ["server:app", "--app-dir", str(SOURCES / name)]
    return [str(programs / "python"), "-m", "uvicorn", *app, *UVICORN, "--port"]


def _serve(command: Sequence[str], env: Mapping[str, str]) -> Site:
    port = find_free_port()
    return Site([*command, str(port)], port, path="/livez", env=env)


def _make_subject(site: Site, others: Mapping[str, Sequence[Child]]) -> Subject:
    return Subject("peer", [Target(f"{site.url}/mcp", TOOL, ARGUMENTS)], {"api": [site], **others})
