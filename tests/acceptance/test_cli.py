"""``receiver serve`` and ``receiver work``, and what any command says when it can't start."""

import os
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx2
import pytest

from receiver import __version__
from tests.acceptance.commands import DEMO, RECEIVER, refusal, run, url_in
from tests.processes import ROOT, Child
from tests.servers import Server, find_valkey, start_server

NOBODY = "redis://127.0.0.1:1"  # where no Redis listens


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Server]:
    store = start_server(find_valkey(), tmp_path / "store", "--appendonly", "yes")
    yield store
    store.stop()


def test_the_version() -> None:
    assert run("--version").stdout == f"receiver {__version__}\n"


def test_completion() -> None:
    completed = run(env={"_RECEIVER_COMPLETE": "complete_bash", "COMP_WORDS": "receiver ca", "COMP_CWORD": "1"})
    assert completed.stdout == "call\n"


@pytest.mark.parametrize(
    ("app", "line"),
    [
        ([], "no app given: name it as MODULE:app, or set RECEIVER_APP"),
        (["app"], "an app is named as MODULE:attribute, for example acme.server:app; 'app' is not"),
        (["nowhere:app"], "can't import nowhere: there is no module named nowhere"),
        (["ops.demo:nothing"], "module ops.demo has no attribute 'nothing'"),
        (["ops.demo:greet"], "ops.demo:greet is a function; it has to be a Receiver"),
        (["tests.apps.broken:app"], "can't import tests.apps.broken: RuntimeError: broken (in "),
        ([DEMO], "no Redis given: set RECEIVER_REDIS_URL, or use `receiver dev`, which brings its own"),
    ],
)
def test_an_app_that_cannot_be_had(app: list[str], line: str) -> None:
    assert refusal("serve", *app).startswith(line)


@pytest.mark.parametrize(
    ("variables", "line"),
    [
        ({"RECEIVER_PAGE_SIZE": "many"}, "bad settings: RECEIVER_PAGE_SIZE: Input should be a valid integer"),
        ({"RECEIVER_AUTH_TOKENS": "{"}, "bad settings: "),
        ({"RECEIVER_REDIS_URL": "http://localhost"}, "RECEIVER_REDIS_URL is not the URL of a Redis: "),
        ({"RECEIVER_REDIS_URL": NOBODY}, f"Redis at {NOBODY} can't be reached: "),
    ],
)
@pytest.mark.parametrize("command", ["dev", "serve", "work"])
def test_settings_that_cannot_work(command: str, variables: Mapping[str, str], line: str, tmp_path: Path) -> None:
    port = [] if command == "work" else ["--port", "0"]
    assert refusal(command, DEMO, *port, env={"RECEIVER_DATA_DIR": str(tmp_path), **variables}).startswith(line)


@pytest.mark.parametrize("command", ["serve", "work"])
def test_a_redis_that_evicts(command: str, tmp_path: Path) -> None:
    store = start_server(find_valkey(), tmp_path, "--maxmemory-policy", "allkeys-lru")
    try:
        line = refusal(command, DEMO, env={"RECEIVER_REDIS_URL": store.url})
        assert "set its maxmemory-policy to noeviction, not allkeys-lru" in line
    finally:
        store.stop()


@pytest.mark.parametrize("command", ["serve", "work"])
def test_a_redis_that_keeps_less_than_demanded(command: str, store: Server) -> None:
    line = refusal(command, DEMO, env={"RECEIVER_REDIS_URL": store.url, "RECEIVER_DURABILITY": "always"})
    assert line == "RECEIVER_DURABILITY=always needs a Redis with appendfsync always, not everysec"


def test_serving_until_a_signal(store: Server) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        with Child([*RECEIVER, "serve", DEMO, "--port", "0"], env={"RECEIVER_REDIS_URL": store.url}) as api:
            url = url_in(api)
            assert httpx2.get(f"{url}/livez").json() == {"status": "ok"}
            os.kill(api.pid, number)
            assert api.wait() == 0
            assert "Traceback" not in api.log


def test_a_port_in_use(store: Server, tmp_path: Path) -> None:
    with Child([*RECEIVER, "serve", DEMO, "--port", "0"], env={"RECEIVER_REDIS_URL": store.url}) as api:
        port = url_in(api).rpartition(":")[2]
        line = f"port {port} of 127.0.0.1 is in use; choose another one with --port"
        assert refusal("serve", DEMO, "--port", port, env={"RECEIVER_REDIS_URL": store.url}) == line
        assert refusal("dev", DEMO, "--port", port, env={"RECEIVER_DATA_DIR": str(tmp_path)}) == line


def test_the_app_may_come_from_its_variable_and_an_argument_wins(store: Server) -> None:
    variables = {"RECEIVER_REDIS_URL": store.url, "RECEIVER_APP": "nowhere:app"}
    assert refusal("work", env=variables) == "can't import nowhere: there is no module named nowhere"
    with Child([*RECEIVER, "work", DEMO], env=variables) as worker:
        worker.wait_for_log("worker_started")
        assert worker.terminate() == 0


def test_a_worker_of_some_lanes(store: Server) -> None:
    with Child([*RECEIVER, "work", DEMO, "--lanes", "default, heavy"], env={"RECEIVER_REDIS_URL": store.url}) as worker:
        worker.wait_for_log('"queues": ["default"]')


def test_an_unknown_variable_is_a_warning_that_names_the_nearest(store: Server) -> None:
    variables = {"RECEIVER_REDIS_URL": store.url, "RECEIVER_LEASE_SECOND": "1"}
    with Child([*RECEIVER, "work", DEMO], env=variables) as worker:
        worker.wait_for_log("worker_started")
        warning = "receiver: RECEIVER_LEASE_SECOND is no setting; did you mean RECEIVER_LEASE_SECONDS?"
        assert worker.log.splitlines().count(warning) == 1


def test_folders_that_are_named_like_ours_are_not_mistaken_for_them(tmp_path: Path, store: Server) -> None:
    for name in ("ops", "receiver", "workers"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('not this one')\n")
    (tmp_path / "acme.py").write_text("from receiver import Receiver\napp = Receiver('acme')\n")
    # As the console script starts: without the current directory on the path.
    console_script = [sys.executable, "-P", "-m", "ops.cli"]
    command = ["env", "-C", str(tmp_path), f"PYTHONPATH={ROOT}", *console_script, "dev", "acme:app", "--port", "0"]
    with Child(command, env={"RECEIVER_REDIS_URL": store.url}) as dev:
        assert httpx2.get(f"{url_in(dev, 'acme:app')}/readyz").status_code == 200
        dev.wait_for_log("worker_started")
        assert dev.terminate() == 0
