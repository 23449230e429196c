"""``receiver dev``: everything runs, is kept running, keeps its data, and ends."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from redis import Redis

from ops.embedded import EmbeddedServer
from tests.acceptance.commands import DEMO, RECEIVER, refusal, url_in
from tests.http.requestor import HEADERS, INITIALIZE, frame, open_answer
from tests.processes import HOST, ROOT, Child, find_free_port

PATIENCE_SECONDS = 30.0


class Dev(Child):
    """``receiver dev`` with its files in ``folder``."""

    def __init__(self, folder: Path, *words: str, app: str = DEMO, **variables: str) -> None:
        env = {"RECEIVER_DATA_DIR": str(folder), "PYTHONPATH": str(folder.parent), **variables}
        super().__init__([*RECEIVER, "dev", app, "--port", "0", *words], env=env)
        self.url = url_in(self, app)
        self._headers = HEADERS
        self._session: dict[str, str] = {}

    def ask(self, method: str, **params: object) -> Any:
        """The result of a request, in a session of this command's life."""
        if not self._session:
            begun = self._post("initialize", INITIALIZE)
            self._session = {"mcp-session-id": begun.headers["mcp-session-id"]}
        return open_answer(self._post(method, params))["result"]

    def _post(self, method: str, params: object) -> httpx2.Response:
        headers = {**HEADERS, **self._session}
        return httpx2.post(f"{self.url}/mcp", json=frame(method, params), headers=headers, timeout=PATIENCE_SECONDS)

    def create(self, tool: str, **arguments: object) -> str:
        """The id of a new task."""
        created = self.ask("tools/call", name=tool, arguments=arguments, task={})
        return str(created["task"]["taskId"])

    def finish(self, task_id: str) -> Any:
        """The result of a task, when it is there."""
        until(lambda: self.ask("tasks/get", taskId=task_id)["status"] != "working")
        return self.ask("tasks/result", taskId=task_id)

    def pids(self, pattern: str) -> list[int]:
        """Those that were named in the log."""
        return [int(found) for found in re.findall(pattern, self.log)]


API = r"Started server process \[(\d+)\]"
WORKER = r'"worker_id": "[^":]*:(\d+):[^\n]*"event": "worker_started"'


@pytest.fixture
def dev(tmp_path: Path) -> Iterator[Dev]:
    with Dev(tmp_path / "data") as dev:
        dev.wait_for_log("worker_started")
        yield dev


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    """Whether a process runs: one that has ended, and whose parent did not look yet, does not."""
    try:
        os.kill(pid, 0)
        return sys.platform != "linux" or Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def server_pid(folder: Path) -> int:
    with Redis.from_url(EmbeddedServer(folder).url) as redis:
        return int(redis.info("server")["process_id"])


def test_it_serves_and_says_what_to_try(dev: Dev) -> None:
    assert httpx2.get(f"{dev.url}/readyz").json() == {"status": "ok"}
    tries = dev.log[dev.log.index("Serving") :].splitlines()[1:]
    assert f"The console is at {dev.url}/console/" in tries
    assert httpx2.get(f"{dev.url}/console/").status_code == 200
    assert f"  sh ops/first_steps.sh {dev.url}/mcp" in tries
    assert any(f"inspector --cli {dev.url}/mcp" in line for line in tries)


def test_it_serves_without_a_worker_where_none_is_wanted(tmp_path: Path) -> None:
    with Dev(tmp_path / "data", "--workers", "0") as dev:
        assert httpx2.get(f"{dev.url}/readyz").status_code == 503
        assert httpx2.get(f"{dev.url}/livez").status_code == 200


def test_its_api_is_one_process(tmp_path: Path) -> None:
    """So that its metrics are on its own port, whatever is set for ``receiver serve``."""
    with Dev(tmp_path / "data", "--workers", "0", RECEIVER_API_PROCESSES="2") as dev:
        assert httpx2.get(f"{dev.url}/metrics").status_code == 200
        assert len(dev.pids(API)) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_all_of_it(tmp_path: Path, number: signal.Signals) -> None:
    with Dev(tmp_path / "data", "--workers", "2") as dev:
        until(lambda: len(dev.pids(WORKER)) == 2)
        processes = [*dev.pids(API), *dev.pids(WORKER), server_pid(tmp_path / "data")]
        assert [is_alive(pid) for pid in processes] == [True] * 4
        assert os.getsid(dev.pid) not in map(os.getsid, processes)  # a terminal's Ctrl-C does not reach them
        os.kill(dev.pid, number)
        assert dev.wait() == 0
        assert [is_alive(pid) for pid in processes] == [False] * 4
        assert "Traceback" not in dev.log


def test_a_task_and_its_result_outlive_a_restart(tmp_path: Path) -> None:
    with Dev(tmp_path / "data") as dev:
        done = dev.create("count_words", text="to be or not to be")
        result = dev.finish(done)
        assert result["structuredContent"]["words"] == 6
        running = dev.create("slow_compute", seconds=0.5, label="sums")
        assert dev.terminate() == 0
    with Dev(tmp_path / "data") as dev:
        assert dev.ask("tasks/result", taskId=done) == result
        assert dev.finish(running)["content"][0]["text"] == "sums: done after 0.5 s"


def test_running_work_is_handed_back_in_seconds(dev: Dev) -> None:
    task_id = dev.create("slow_compute", seconds=3600)
    until(lambda: "statusMessage" in dev.ask("tasks/get", taskId=task_id))
    assert dev.terminate() == 0
    assert "task_handed_back" in dev.log


def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    with Dev(tmp_path / "data", RECEIVER_SHUTDOWN_GRACE_SECONDS="3600") as dev:
        task_id = dev.create("slow_compute", seconds=3600)
        until(lambda: "statusMessage" in dev.ask("tasks/get", taskId=task_id))
        processes = [*dev.pids(WORKER), server_pid(tmp_path / "data")]

        def signal_again() -> bool:
            os.kill(dev.pid, signal.SIGINT)
            return dev.returncode is not None

        until(signal_again)
        assert dev.returncode == 130
        until(lambda: not any(map(is_alive, processes)))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parent")
def test_nothing_outlives_it_when_it_is_killed(dev: Dev, tmp_path: Path) -> None:
    processes = [*dev.pids(API), *dev.pids(WORKER), server_pid(tmp_path / "data")]
    assert len(processes) == 3
    dev.kill()
    until(lambda: not any(map(is_alive, processes)))


def test_whoever_is_killed_is_started_again(dev: Dev, tmp_path: Path) -> None:
    server = server_pid(tmp_path / "data")
    for pid in (dev.pids(API)[0], dev.pids(WORKER)[0], server):
        os.kill(pid, signal.SIGKILL)
    dev.wait_for_log("receiver: the API ended unasked (SIGKILL) and is started again")
    dev.wait_for_log("receiver: worker 1 ended unasked (SIGKILL) and is started again")
    dev.wait_for_log("receiver: the server ended unasked (SIGKILL) and is started again")
    until(lambda: len(dev.pids(API)) == 2)
    assert dev.finish(dev.create("greet", name="Ada"))["content"][0]["text"] == "Hello, Ada!"
    assert dev.terminate() == 0


def test_two_of_them_in_one_data_directory(dev: Dev, tmp_path: Path) -> None:
    line = refusal("dev", DEMO, "--port", "0", env={"RECEIVER_DATA_DIR": str(tmp_path / "data")})
    assert line.startswith("another `receiver dev` uses ")


def test_an_app_that_cannot_be_imported_is_told_once(tmp_path: Path) -> None:
    variables = {"RECEIVER_DATA_DIR": str(tmp_path), "RECEIVER_LOG_FORMAT": "json"}
    line = refusal("dev", "nowhere:app", "--port", "0", "--workers", "3", env=variables)
    assert line == "can't import nowhere: there is no module named nowhere"


def test_an_unknown_variable_is_told_once(tmp_path: Path) -> None:
    with Dev(tmp_path / "data", RECEIVER_PORT="1") as dev:
        dev.wait_for_log("worker_started")
        assert dev.log.count("RECEIVER_PORT") == 1


def test_a_server_that_cannot_start(tmp_path: Path) -> None:
    (tmp_path / "appendonlydir").mkdir()
    (tmp_path / "appendonlydir" / "appendonly.aof.manifest").write_text("junk\n")
    line = refusal("dev", DEMO, "--port", "0", env={"RECEIVER_DATA_DIR": str(tmp_path)})
    assert line.startswith("the embedded server ended at its start: ")


CODE = """
from receiver import Receiver

app = Receiver("changing")

@app.tool
def {name}() -> str:
    return {value}
"""


def test_reload_takes_up_what_changed_and_survives_what_is_broken(tmp_path: Path) -> None:
    code = tmp_path / "changing.py"
    code.write_text(CODE.format(name="first", value="'one'"))
    with Dev(tmp_path / "data", "--reload", app="changing:app") as dev:
        assert dev.ask("tools/call", name="first")["content"][0]["text"] == "one"
        code.write_text(CODE.format(name="broken", value="("))
        dev.wait_for_log("can't import changing: SyntaxError")
        code.write_text(CODE.format(name="second", value="'two, and longer'"))
        assert dev.ask("tools/call", name="second")["content"][0]["text"] == "two, and longer"
        assert dev.terminate() == 0


def test_reload_of_an_app_that_is_nowhere(tmp_path: Path) -> None:
    line = refusal("dev", "nowhere:app", "--port", "0", "--reload", env={"RECEIVER_DATA_DIR": str(tmp_path)})
    assert line == "can't watch the files of nowhere:app: there is no module named 'nowhere'"


def first_steps(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["/bin/sh", "ops/first_steps.sh", *words], cwd=ROOT, capture_output=True, text=True, timeout=50
    )


def test_the_first_steps_of_the_readme(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("text")
    with Dev(tmp_path / "data", DEMO_ROOT=str(tmp_path)) as dev:
        steps = first_steps(f"{dev.url}/mcp", "folder")
        assert steps.returncode == 0, steps.stdout + steps.stderr
        assert '"status":"completed"' in steps.stdout
        assert '"files":1' in steps.stdout.splitlines()[-1]
        missing = first_steps(f"{dev.url}/mcp", 'no such "folder"')
        assert missing.returncode == 1
        assert r"There is no folder 'no such \"folder\"'" in missing.stdout
        assert missing.stderr == "the task is failed\n"
        assert first_steps(f"{dev.url}/nothing").returncode == 1


def test_the_first_steps_with_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Dev(tmp_path / "data", DEMO_ROOT=str(tmp_path), RECEIVER_AUTH_TOKENS='{"secret": {"subject": "ada"}}') as dev:
        refused = first_steps(f"{dev.url}/mcp")
        assert refused.returncode == 1
        assert refused.stderr.startswith("HTTP 401")
        monkeypatch.setenv("RECEIVER_TOKEN", "secret")
        assert first_steps(f"{dev.url}/mcp").returncode == 0


def test_each_worker_has_a_port_for_its_metrics(tmp_path: Path) -> None:
    """The first has the one that is set, the next the next one."""
    port = find_two_free_ports()
    with Dev(tmp_path / "data", "--workers", "2", RECEIVER_METRICS_PORT=str(port)) as dev:
        until(lambda: len(dev.pids(WORKER)) == 2)
        pages = [
            httpx2.get(f"{url}/metrics").text for url in (dev.url, f"http://{HOST}:{port}", f"http://{HOST}:{port + 1}")
        ]
    assert ["mcp_tasks_workers_up{" in page for page in pages] == [True, False, False]
    assert all("mcp_tasks_build_info{" in page for page in pages)


def find_two_free_ports() -> int:
    """The first of two ports in a row that nothing listens on just now."""
    while True:
        port = find_free_port()
        with socket.socket() as probe:
            if port < 65535 and probe.connect_ex((HOST, port + 1)) != 0:
                return port
