"""What is measured: the floor, and the server as its users run it."""

import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from redis import Redis

from ops.bench.requestor import Requestor, Target
from tests.processes import HOST, Api, Child, Site, Valkey, Worker, find_free_port

APP = "tests.bench.app:app"
TOOL, ARGUMENTS = "instant", {"text": "hello"}

# Limits are on, and nothing meets them.
SETTINGS: dict[str, Any] = {
    "log_level": "info",  # as it comes
    "rate_limit": "100000000/10s",
    "miss_limit": "100000000/10s",
    "max_tasks_per_principal": 100_000_000,
    "max_streams_per_principal": 100_000,
    "max_sessions_per_principal": 1_000_000,
    "queue_limit": 100_000_000,
}


@dataclass
class Subject:
    """A server that is up: where it is asked, its processes by their role, and its Redis, if it has one."""

    name: str
    targets: Sequence[Target]
    processes: Mapping[str, Sequence[Child]]
    redis: "Redis | None" = None
    open: Callable[[Target], Awaitable[Requestor]] = field(default=Requestor.open)

    @property
    def redis_url(self) -> str:
        """Where its Redis is."""
        return cast(Valkey, self.processes["redis"][0]).url


@contextmanager
def run_floor(folder: Path) -> Iterator[Subject]:
    """The floor, on a Redis of its own."""
    with ExitStack() as stack:
        valkey = stack.enter_context(Valkey(_sub(folder, "floor")))
        port = find_free_port()
        options = ["--no-access-log", "--log-level", "warning", "--loop", "uvloop", "--http", "httptools"]
        command = [
            sys.executable,
            "-m",
            "uvicorn",
            "tests.bench.floor:app",
            "--host",
            HOST,
            "--port",
            str(port),
            *options,
        ]
        site = stack.enter_context(Site(command, port, path="/", env={"FLOOR_REDIS_URL": valkey.url}))
        target = Target(f"{site.url}/mcp", TOOL, ARGUMENTS)
        yield Subject("floor", [target], {"api": [site], "redis": [valkey]}, Redis.from_url(valkey.url))


@contextmanager
def run_receiver(folder: Path, *, nodes: int = 1, workers: int = 1, **settings: Any) -> Iterator[Subject]:
    """``receiver serve`` and ``receiver work``, on a Redis of their own, with no settings but higher limits."""
    with ExitStack() as stack:
        valkey = stack.enter_context(Valkey(_sub(folder, f"receiver-{nodes}-{workers}")))
        given = SETTINGS | settings
        apis = [stack.enter_context(Api(APP, valkey.url, **given)) for _ in range(nodes)]
        works = [stack.enter_context(Worker(APP, valkey.url, **given)) for _ in range(workers)]
        targets = [Target(f"{api.url}/mcp", TOOL, ARGUMENTS) for api in apis]
        processes: dict[str, Sequence[Child]] = {"api": apis, "worker": works, "redis": [valkey]}
        yield Subject("receiver", targets, processes, Redis.from_url(valkey.url))


def _sub(folder: Path, name: str) -> Path:
    path = folder / name
    path.mkdir(parents=True, exist_ok=True)
    return path
