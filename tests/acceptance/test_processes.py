"""``receiver serve --processes``: several nodes behind one port, kept running, and ended in order."""

import os
import re
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection
from pathlib import Path

import httpx2
import orjson
import pytest
from redis import Redis

from ops.supervisor import KILLED
from tests.acceptance.commands import DEMO, RECEIVER, refusal, run, url_in
from tests.acceptance.test_dev import is_alive
from tests.http.requestor import HEADERS, INITIALIZE, frame
from tests.processes import HOST, Child, Valkey, variables
from tests.samples import Samples

PATIENCE_SECONDS = 30.0
CONNECTIONS = 64
FEWEST = 10  # of those that one of two processes has: fewer come by chance once in a hundred million times


class Fleet(Child):
    """Two API processes, each with its metrics on a port of its own."""

    def __init__(self, redis_url: str, namespace: str, **settings: object) -> None:
        self.ports = find_free_ports()
        self._redis_url = redis_url
        self._key = f"{namespace}:{{0}}:nodes"
        given = {"namespace": namespace, "metrics_port": self.ports[0], "ready_without_workers": True, **settings}
        command = [*RECEIVER, "serve", DEMO, "--port", "0", "--processes", "2"]
        super().__init__(command, env=variables(redis_url, given))
        self.url = url_in(self)
        until(lambda: len(self.nodes()) == 2 or self.returncode is not None)
        assert self.returncode is None, self.log

    def nodes(self) -> list[int]:
        """The processes that say in the store that they are there."""
        with Redis.from_url(self._redis_url, decode_responses=True) as redis:
            return [int(name.split(":")[1]) for name in redis.zrange(self._key, 0, -1)]

    def processes(self) -> list[int]:
        """Those that were started so far."""
        return [int(found) for found in re.findall(r"Started server process \[(\d+)\]", self.log)]

    def connect(self) -> HTTPConnection:
        """A connection to the port that they share."""
        return HTTPConnection(HOST, int(self.url.rpartition(":")[2]), timeout=PATIENCE_SECONDS)

    def ask(self) -> int:
        """Begins a session on a connection of its own; returns the status of the answer."""
        with closing(self.connect()) as connection:
            return ask(connection)

    def begun(self) -> list[float]:
        """How many sessions each of them began."""
        pages = [Samples.read(httpx2.get(f"http://{HOST}:{port}/metrics").text) for port in self.ports]
        name, labels = "mcp_server_operation_duration_seconds_count", {"mcp_method_name": "initialize"}
        return [page.get(name, error_type="", **labels) or 0 for page in pages]


def find_free_ports() -> tuple[int, int]:
    """Two ports, one behind the other, that nothing listens on just now."""
    while True:
        with suppress(OSError), socket.create_server(("", 0)) as first:
            port = first.getsockname()[1]
            socket.create_server(("", port + 1)).close()
            return port, port + 1


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def ask(connection: HTTPConnection) -> int:
    """Begins a session; returns the status of the answer."""
    connection.request("POST", "/mcp", orjson.dumps(frame("initialize", INITIALIZE)), HEADERS)
    answer = connection.getresponse()
    answer.read()
    return answer.status


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    with Valkey(tmp_path_factory.mktemp("valkey")) as valkey:
        yield valkey


@pytest.fixture(scope="module")
def fleet(valkey: Valkey) -> Iterator[Fleet]:
    with Fleet(valkey.url, "fleet") as fleet:
        yield fleet


def test_each_is_a_node_of_its_own(fleet: Fleet) -> None:
    assert sorted(fleet.nodes()) == sorted(fleet.processes())
    assert fleet.pid not in fleet.nodes()
    assert httpx2.get(f"{fleet.url}/readyz").json() == {"status": "ok"}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere they share one socket")
def test_connections_are_spread_over_them(fleet: Fleet) -> None:
    before = fleet.begun()
    connections = [fleet.connect() for _ in range(CONNECTIONS)]
    assert [ask(connection) for connection in connections] == [200] * CONNECTIONS
    share = [now - then for now, then in zip(fleet.begun(), before, strict=True)]
    for connection in connections:
        connection.close()
    assert sum(share) == CONNECTIONS
    assert min(share) >= FEWEST


def test_metrics_are_where_only_one_process_answers(fleet: Fleet) -> None:
    """Behind the common port they would be those of another process each time."""
    answer = httpx2.get(f"{fleet.url}/metrics")
    assert (answer.status_code, "RECEIVER_METRICS_PORT" in answer.text) == (404, True)
    pages = [Samples.read(httpx2.get(f"http://{HOST}:{port}/metrics").text) for port in fleet.ports]
    assert [page.get("mcp_tasks_active", status="working") for page in pages] == [0, 0]  # of the store


@pytest.mark.parametrize(("path", "status"), [("/livez", 200), ("/readyz", 200), ("/mcp", 404), ("/console/", 404)])
def test_its_own_port_has_health_and_no_more(fleet: Fleet, path: str, status: int) -> None:
    for port in fleet.ports:
        assert httpx2.get(f"http://{HOST}:{port}{path}").status_code == status


def test_a_killed_one_is_started_again_and_nobody_notices(fleet: Fleet) -> None:
    killed, other = fleet.nodes()
    os.kill(killed, signal.SIGKILL)
    until(lambda: not is_alive(killed))
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(fleet.processes()) == 2:
        assert fleet.ask() == 200
        assert time.monotonic() < deadline
    until(lambda: fleet.processes()[-1] in fleet.nodes())
    assert fleet.ask() == 200
    assert is_alive(other)
    assert "ended unasked (SIGKILL) and is started again" in fleet.log


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_all_of_it(valkey: Valkey, number: signal.Signals) -> None:
    with Fleet(valkey.url, f"signal-{number}") as fleet:
        processes = fleet.nodes()
        assert os.getsid(fleet.pid) not in map(os.getsid, processes)  # a terminal's Ctrl-C does not reach them
        os.kill(fleet.pid, number)
        assert fleet.wait() == 0
        assert [is_alive(pid) for pid in processes] == [False, False]
        assert fleet.nodes() == []  # each took itself away
        assert "Traceback" not in fleet.log


def test_they_go_on_to_serve_while_they_drain(valkey: Valkey) -> None:
    with Fleet(valkey.url, "drained", drain_seconds=1) as fleet:
        fleet.ask_to_end()
        until(lambda: httpx2.get(f"http://{HOST}:{fleet.ports[0]}/readyz").status_code == 503)
        assert fleet.ask() == 200
        assert fleet.wait() == 0


def test_the_exit_code_is_that_of_who_had_to_be_killed(valkey: Valkey) -> None:
    """SIGSTOP: one that does not obey, in the time that it has."""
    with Fleet(valkey.url, "stopped") as fleet:
        os.kill(fleet.nodes()[0], signal.SIGSTOP)
        processes = fleet.nodes()
        assert fleet.terminate() == KILLED
        assert [is_alive(pid) for pid in processes] == [False, False]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_nothing_outlives_a_supervisor_that_is_killed(valkey: Valkey) -> None:
    with Fleet(valkey.url, "orphans") as fleet:
        processes = fleet.nodes()
        fleet.kill()
        until(lambda: not any(map(is_alive, processes)))


def test_what_cannot_start_says_so_once(valkey: Valkey, tmp_path: Path) -> None:
    env = variables(valkey.url, {"api_processes": 2})
    taken = find_free_ports()[0]
    with socket.create_server((HOST, taken)):
        assert refusal("serve", DEMO, "--port", str(taken), env=env).startswith(f"port {taken} of {HOST} is in use")
    exposed = run("serve", DEMO, "--host", "0.0.0.0", "--port", "0", env=env)  # noqa: S104 - it is refused
    assert exposed.returncode == 2
    assert exposed.stderr.count("nothing asks them who they are") == 1
    with socket.create_server(("", taken)):
        missing = run("serve", DEMO, "--port", "0", env=env | {"RECEIVER_METRICS_PORT": str(taken)})
    assert missing.returncode == 2
    assert f"RECEIVER_METRICS_PORT: can't listen on port {taken}" in missing.stderr


def test_two_of_them_do_not_share_a_port(fleet: Fleet, valkey: Valkey) -> None:
    """Sockets that share an address let any other of the same user in."""
    port = fleet.url.rpartition(":")[2]
    env = variables(valkey.url, {})
    assert "is in use" in refusal("serve", DEMO, "--port", port, "--processes", "2", env=env)
    alone = run("serve", DEMO, "--port", port, env=env)
    assert (alone.returncode, "is in use" in alone.stderr) == (2, True)
