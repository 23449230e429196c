"""Tools in processes of their own."""

import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from receiver.protocol.errors import StartupError
from tests.processes import Worker
from tests.workers.poison import NAME, app
from tests.workers.requestor import Requestor
from tests.workers.stage import Logs, Stage, until
from workers.attendant import Attendant
from workers.isolation import Process, Processes
from workers.worker import ReceiverWorker

FOR_EVER = 3600


@pytest.fixture
async def worker(stage: Stage) -> AsyncIterator[ReceiverWorker]:
    async with stage.working(app, app=NAME, shutdown_grace_seconds=FOR_EVER) as worker:
        yield worker


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def pid_in(folder: Path, name: str = "pid") -> int:
    """The pid that a tool wrote down, once it has."""
    await until(lambda: (folder / name).exists() and (folder / name).read_text())
    return int((folder / name).read_text().split()[-1])


@pytest.mark.usefixtures("worker")
async def test_a_tool_runs_in_another_process_with_all_that_it_knows(stage: Stage, logs: Logs) -> None:
    task_id = await stage.create(app, "look", label="Ada")
    outcome = await stage.outcome(task_id)
    seen = outcome.payload["structuredContent"]
    assert seen == {
        "pid": seen["pid"],
        "task_id": task_id,
        "run": 1,
        "attempt": 1,
        "state": {"pid": seen["pid"]},
        "subject": "",
    }
    assert seen["pid"] != os.getpid()
    record = await stage.record(task_id)
    assert (record["progress"], record["progress_total"], record["progress_message"]) == ("1", "2", "Ada")
    assert logs.of("tool_log")[0]["data"] == {"label": "Ada"}
    await until(lambda: not is_alive(seen["pid"]))


@pytest.mark.usefixtures("worker")
async def test_a_plain_function_has_a_process_too(stage: Stage) -> None:
    task_id = await stage.create(app, "look_plainly")
    assert (await stage.outcome(task_id)).payload["structuredContent"]["result"] != os.getpid()


@pytest.mark.usefixtures("worker")
async def test_arguments_that_do_not_fit_need_no_process(stage: Stage) -> None:
    outcome = await stage.call(app, "look", kind="call", label=1)
    assert outcome.payload["isError"]


async def test_an_answer_reaches_the_process_that_asked(stage: Stage, worker: ReceiverWorker) -> None:
    requestor = Requestor(stage, app)
    await requestor.start()
    task_id = await requestor.create("ask")
    await requestor.asked(task_id)
    await until(lambda: worker.roster.waiting == 1)
    assert worker.roster.slots.free == worker.settings.worker_concurrency
    await requestor.answer(task_id)
    assert (await stage.outcome(task_id)).text == "plain"


async def test_a_run_that_is_parked_has_no_process_and_repeats_no_step(stage: Stage, tmp_path: Path) -> None:
    async with stage.working(app, app=NAME, park_after_seconds=0):
        outcome = await stage.call(app, "nap", folder=str(tmp_path))
    assert outcome.payload["structuredContent"] == {"result": 2}
    first, second = (int((tmp_path / name).read_text()) for name in ("first", "second"))  # each was done once
    assert first != second


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("tool", "no way"),
        ("step", "the step failed"),
        ("sleep", "Tool 'err' failed: ValueError; the server's log has the details"),
        ("progress", "Tool 'err' failed: ValueError; the server's log has the details"),
    ],
)
async def test_what_a_tool_raises_is_what_its_caller_gets(stage: Stage, what: str, text: str) -> None:
    outcome = await stage.call(app, "err", what=what)
    assert (outcome.status, outcome.text) == ("failed", text)


@pytest.mark.usefixtures("worker")
async def test_an_outcome_is_not_lost_where_the_worker_answers_late(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It still has to answer the call of a step that failed when the process has said all that it had to say."""
    started: list[Process] = []
    start, settle = Processes.start, Attendant._settle

    async def note(processes: Processes) -> Process:
        started.append(await start(processes))
        return started[-1]

    def has_ended() -> bool:
        with suppress(ChildProcessError):
            return os.waitid(os.P_PID, started[-1]._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        return True

    def settle_late(attendant: Attendant, number: int, text: str | None) -> None:
        patience = time.monotonic() + 1
        while not has_ended() and time.monotonic() < patience:
            time.sleep(0.01)
        settle(attendant, number, text)

    monkeypatch.setattr(Processes, "start", note)
    monkeypatch.setattr(Attendant, "_settle", settle_late)
    outcome = await stage.call(app, "err", what="step")
    assert (outcome.status, outcome.text, len(started)) == ("failed", "the step failed", 1)


@pytest.mark.usefixtures("worker")
async def test_a_tool_may_ask_for_another_attempt(stage: Stage) -> None:
    task_id = await stage.create(app, "err", what="retry")
    assert (await stage.outcome(task_id)).status == "completed"
    assert (await stage.record(task_id))["attempt"] == "2"


# Poison


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    ("how", "end"),
    [
        ("segfault", "was killed by signal 11, 2 times"),
        ("kill", "was killed by signal 9, 2 times"),
        ("exit", "ended with exit code 3, 2 times"),
    ],
)
async def test_a_process_that_dies_is_an_attempt(stage: Stage, how: str, end: str) -> None:
    task_id = await stage.create(app, "poison", how=how)
    outcome = await stage.outcome(task_id)
    assert (outcome.status, outcome.text) == ("failed", f"The process of tool 'poison' {end}")
    assert (await stage.record(task_id))["attempt"] == "2"
    assert (await stage.call(app, "innocent")).payload["structuredContent"] == {"result": os.getpid()}


@pytest.mark.usefixtures("worker")
async def test_what_may_be_attempted_once_fails_with_its_process(stage: Stage) -> None:
    task_id = await stage.create(app, "poison_once")
    assert (await stage.outcome(task_id)).text == "The process of tool 'poison_once' was killed by signal 9"
    assert (await stage.record(task_id))["run"] == "1"


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("tool", ["swallow", "swallow_async"])
async def test_the_memory_of_a_process_is_bounded(stage: Stage, tool: str) -> None:
    assert (await stage.call(app, tool, mebibytes=16)).payload["structuredContent"] == {"result": 16}
    outcome = await stage.call(app, tool, mebibytes=256)
    what = f"Tool {tool!r} needs more memory than it may have: 67,108,864 bytes"
    assert (outcome.status, outcome.text) == ("failed", what)


# Stopping


@pytest.mark.parametrize("how", ["count", "regex", "sleep", "child"])
async def test_a_cancel_ends_it_whatever_it_does(
    stage: Stage, worker: ReceiverWorker, tmp_path: Path, how: str
) -> None:
    task_id = await stage.create(app, "spin", how=how, folder=str(tmp_path))
    pid = await pid_in(tmp_path)
    child = await pid_in(tmp_path, "child") if how == "child" else pid
    await stage.cancel(task_id)
    await until(lambda: not is_alive(pid))
    await until(lambda: not worker.roster)
    await until(lambda: not is_alive(child))
    assert (await stage.record(task_id))["status"] == "cancelled"


async def test_a_coroutine_may_clean_up(stage: Stage, worker: ReceiverWorker, tmp_path: Path) -> None:
    task_id = await stage.create(app, "doze", folder=str(tmp_path))
    pid = await pid_in(tmp_path)
    await stage.cancel(task_id)
    await until(lambda: not is_alive(pid))
    assert await pid_in(tmp_path, "cleaned") == pid


async def test_the_end_of_its_time_ends_its_process_and_frees_the_slot(
    stage: Stage, worker: ReceiverWorker, tmp_path: Path
) -> None:
    outcome = await stage.call(app, "spin_briefly", folder=str(tmp_path))
    assert outcome.text == "Tool 'spin_briefly' was stopped: it took longer than 3 s"
    assert not is_alive(await pid_in(tmp_path))
    await until(lambda: worker.roster.slots.free == worker.settings.worker_concurrency)


async def test_sigterm_does_not_end_it_before_its_worker_says_so(
    stage: Stage, worker: ReceiverWorker, tmp_path: Path
) -> None:
    task_id = await stage.create(app, "doze", folder=str(tmp_path))
    pid = await pid_in(tmp_path)
    os.kill(pid, signal.SIGTERM)
    assert (await stage.call(app, "look", label="after")).status == "completed"
    assert is_alive(pid)
    await stage.cancel(task_id)


@pytest.mark.parametrize("tool", ["doze", "doze_waiting"])
async def test_a_shutdown_fails_what_began_and_may_be_attempted_once(stage: Stage, tmp_path: Path, tool: str) -> None:
    async with stage.working(app, app=NAME):
        task_id = await stage.create(app, tool, folder=str(tmp_path))
        pid = await pid_in(tmp_path)
    outcome = await stage.outcome(task_id)
    assert (outcome.status, outcome.text) == ("failed", f"Tool {tool!r} was interrupted by a shutdown")
    assert not is_alive(pid)


async def test_a_shutdown_hands_back_what_may_be_attempted_again(stage: Stage, tmp_path: Path) -> None:
    async with stage.working(app, app=NAME):
        task_id = await stage.create(app, "spin", how="count", folder=str(tmp_path))
        pid = await pid_in(tmp_path)
    assert (await stage.record(task_id))["handed_back"] == "1"
    assert not is_alive(pid)


async def test_it_ends_with_its_worker_and_writes_to_its_log(stage: Stage, tmp_path: Path) -> None:
    with Worker(NAME, stage.url, lease_seconds=1) as child:
        assert (await stage.call(app, "look", label="Ada")).status == "completed"
        assert (await stage.call(app, "poison", how="segfault")).status == "failed"
        await stage.create(app, "spin", how="count", folder=str(tmp_path))
        pid = await pid_in(tmp_path)
        child.kill()
        await until(lambda: not is_alive(pid))
    assert "looking at Ada" in child.log
    assert "Segmentation fault" in child.log  # and where it was


def test_a_worker_whose_app_has_no_name_does_not_start(stage: Stage) -> None:
    with pytest.raises(StartupError, match="set RECEIVER_APP"):
        ReceiverWorker(app=app, settings=stage.settings(), equipment=stage.kit, handle_signals=False)
