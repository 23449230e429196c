"""The files of ``ops/deploy/sentinel`` make a group of servers that fails over, under the users of ``redis``."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from receiver.store.checks import check_server
from receiver.store.client import connect
from tests.acceptance.deployment import until
from tests.deploy.guarded import DEPLOY, GuardedServer
from tests.processes import HOST, Child, find_free_port
from tests.servers import find_valkey

FOLDER = DEPLOY / "sentinel"
REPLICATED = ("--include", str(FOLDER / "replicated.conf"))


def write_sentinel(folder: Path, port: int, master: int) -> Path:
    """The example, for servers on loopback and a Sentinel that has nobody to ask."""
    text = (FOLDER / "sentinel.conf").read_text()
    for given, here in [
        ("port 26379", f"port {port}\nbind {HOST}"),
        ("dir /tmp", f"dir {folder}"),
        ("valkey-1 6379 2", f"{HOST} {master} 1"),
        ("change-me-sentinel", "sentinel-password"),
    ]:
        assert given in text
        text = text.replace(given, here)
    (folder / "sentinel.conf").write_text(text)
    return folder / "sentinel.conf"


@pytest.fixture
def master(tmp_path: Path) -> Iterator[GuardedServer]:
    with GuardedServer(find_valkey(), tmp_path / "1", *REPLICATED, "--masterauth", "replica-password") as server:
        yield server


@pytest.fixture
def replica(tmp_path: Path, master: GuardedServer) -> Iterator[GuardedServer]:
    words = (*REPLICATED, "--masterauth", "replica-password", "--replicaof", HOST, str(master.port))
    with GuardedServer(find_valkey(), tmp_path / "2", *words) as server:
        yield server


async def test_the_group_fails_over(tmp_path: Path, master: GuardedServer, replica: GuardedServer) -> None:
    with replica.connect_as("admin") as redis:
        await until(lambda: redis.info("replication").get("master_link_status") == "up")
    port = find_free_port()
    binary = find_valkey()
    words: list[str | Path] = [binary, write_sentinel(tmp_path, port, master.port), "--sentinel"]
    url = f"redis+sentinel://api:api-password@{HOST}:{port}/tasks/0"
    with Child(words) as child, Redis(host=HOST, port=port) as sentinel:
        child.wait_for_log("+monitor")
        await until(lambda: sentinel.execute_command("SENTINEL", "REPLICAS", "tasks"))
        pool = connect(url, connections=1)
        assert await check_server(pool, url, "everysec") is None
        await pool.aclose(close_connection_pool=True)
        master.kill()
        await until(
            lambda: int(sentinel.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "tasks")[1]) == replica.port
        )
    assert replica.list_denials() == []
