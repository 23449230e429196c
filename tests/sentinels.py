"""A master, its replicas, and a Sentinel that makes another one the master when it is gone: children of a test."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redis import Redis

from tests.processes import HOST, Child, find_free_port

NAME = "tasks"
PATIENCE_SECONDS = 20.0


class Group:
    """``url`` is what the settings name.  The first of ``servers`` is the master at first."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.ports = [find_free_port() for _ in range(2)]
        self.servers = [
            start_server(binary, folder / str(port), port, self.ports[0] if number else None)
            for number, port in enumerate(self.ports)
        ]
        self.wait_until(lambda: read(self.ports[1], "replication")["master_link_status"] == "up")
        self.sentinel_port = find_free_port()
        self.sentinel = start_sentinel(binary, folder / "sentinel", self.sentinel_port, self.ports[0])
        self.url = f"redis+sentinel://{HOST}:{find_free_port()},{HOST}:{self.sentinel_port}/{NAME}/0"  # one is away
        self.wait_until(lambda: self._ask("REPLICAS") != [])

    def end(self) -> None:
        """Ends all."""
        for child in (self.sentinel, *self.servers):
            child.kill()

    def settle(self) -> None:
        """Returns when the replica has what the master has."""

        def is_level() -> bool:
            master = read(self.ports[0], "replication")
            return bool(master["slave0"]["offset"] == master["master_repl_offset"])

        self.wait_until(is_level)

    def wait_for_failover(self) -> None:
        """Returns when the replica is the master, and the Sentinel says so."""
        self.wait_until(lambda: int(self._ask("GET-MASTER-ADDR-BY-NAME")[1]) == self.ports[1])

    def fail_over(self) -> None:
        """Makes the replica the master while both are well; the old master becomes its replica."""
        self._ask("FAILOVER")
        self.wait_for_failover()

    def _ask(self, *words: str) -> list[bytes]:
        with Redis(host=HOST, port=self.sentinel_port) as sentinel:
            answer: list[bytes] = sentinel.execute_command("SENTINEL", *words, NAME)
            return answer

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Polls ``condition``, since servers say of nothing when it is there."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < deadline, "".join(child.log for child in self.servers)
            time.sleep(0.02)


def read(port: int, section: str) -> dict[str, Any]:
    """What a server tells of itself."""
    with Redis(host=HOST, port=port) as redis:
        return dict(redis.info(section))


def start_server(binary: Path, folder: Path, port: int, master: int | None) -> Child:
    """A server; a replica if there is the port of a ``master``."""
    folder.mkdir(parents=True)
    words: list[str | Path] = [
        binary,
        "--bind",
        HOST,
        "--port",
        str(port),
        "--dir",
        folder,
        "--save",
        "",
        "--appendonly",
        "yes",
    ]
    words += ["--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1"]
    if master is not None:
        words += ["--replicaof", f"{HOST} {master}"]
    child = Child(words)
    child.wait_for_log("Ready to accept connections")
    return child


def start_sentinel(binary: Path, folder: Path, port: int, master: int) -> Child:
    """A Sentinel that alone decides, and soon."""
    folder.mkdir(parents=True)
    lines = [
        f"bind {HOST}",
        f"port {port}",
        f"dir {folder}",
        f"sentinel monitor {NAME} {HOST} {master} 1",
        f"sentinel down-after-milliseconds {NAME} 500",
        f"sentinel failover-timeout {NAME} 3000",
    ]
    config = folder / "sentinel.conf"
    config.write_text("\n".join(lines) + "\n")
    child = Child([binary, config, "--sentinel"])
    child.wait_for_log("+monitor master")
    return child


@contextmanager
def running_group(binary: Path, folder: Path) -> Iterator[Group]:
    """A group for the time of a test."""
    group = Group(binary, folder)
    try:
        yield group
    finally:
        group.end()
