"""``receiver doctor``, as a person and as a program sees it; ``store/test_diagnosis`` has what it finds."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ops.embedded import EmbeddedServer
from tests.acceptance.commands import DEMO, refusal, run
from tests.processes import Api, Worker
from tests.servers import Server, find_valkey, start_server


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Server]:
    store = start_server(find_valkey(), tmp_path / "store", "--appendonly", "yes")
    yield store
    store.stop()


def test_a_deployment_with_which_nothing_is_wrong(store: Server) -> None:
    environment = {"RECEIVER_REDIS_URL": store.url}
    with Api(DEMO, store.url), Worker(DEMO, store.url) as worker:
        worker.wait_for_log("worker_started")
        while (ended := run("doctor", env=environment)).returncode:  # its first heartbeat may be on its way
            assert "no worker is alive" in ended.stdout
        assert ended.stdout == "Nothing is wrong.\n"
        assert json.loads(run("doctor", "--json", env=environment).stdout) == {"findings": []}


def test_what_is_wrong_why_and_what_to_do(store: Server) -> None:
    environment = {"RECEIVER_REDIS_URL": store.url, "COLUMNS": "200"}
    told = run("doctor", env=environment)
    assert told.returncode == 1
    assert told.stdout.splitlines()[:3] == [
        "error  no worker is alive [no_worker]",
        "  Tasks are taken, and wait; nothing is swept or recovered.",
        "  Fix: Start one: receiver work MODULE:app",
    ]
    found = json.loads(run("doctor", "--json", env=environment).stdout)["findings"]
    assert [(finding["name"], finding["severity"]) for finding in found] == [
        ("no_worker", "error"),
        ("no_node", "warning"),
    ]
    assert set(found[0]) == {"name", "severity", "what", "why", "fix", "examples"}


def test_a_warning_is_no_failure(store: Server) -> None:
    with Worker(DEMO, store.url):
        while (ended := run("doctor", env={"RECEIVER_REDIS_URL": store.url})).returncode:
            assert "no worker is alive" in ended.stdout
        assert ended.stdout.startswith("warning  no API node is up [no_node]\n")


def test_a_store_that_does_not_answer_is_a_finding() -> None:
    ended = run("doctor", "--json", env={"RECEIVER_REDIS_URL": "redis://127.0.0.1:1"})
    assert ended.returncode == 1
    (finding,) = json.loads(ended.stdout)["findings"]
    assert finding["name"] == "unreachable_server"
    assert finding["what"] == "the store does not answer (ConnectionError)"


def test_without_a_store_there_is_nothing_to_look_at(tmp_path: Path) -> None:
    line = "no Redis given: set RECEIVER_REDIS_URL, or use `receiver dev`, which brings its own"
    assert refusal("doctor", env={"RECEIVER_DATA_DIR": str(tmp_path)}) == line
    assert refusal("doctor", env={"RECEIVER_REDIS_URL": "nowhere"}).startswith("RECEIVER_REDIS_URL is not the URL")


def test_the_server_of_a_receiver_dev_is_found(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path)
    server.start()
    try:
        ended = run("doctor", env={"RECEIVER_DATA_DIR": str(tmp_path)})
        assert ended.returncode == 1
        assert "no worker is alive" in ended.stdout
    finally:
        server.stop()
