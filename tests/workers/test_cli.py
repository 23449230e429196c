"""``arq workers.settings.WorkerSettings``, as a process of its own."""

import asyncio
import sys
from collections.abc import Callable

import pytest

from tests.processes import Child
from tests.workers import poison
from tests.workers.lone_app import app
from tests.workers.stage import Stage

APP = "tests.workers.lone_app:app"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
STOCK = """
import arq.worker
stock = arq.worker.Worker
from workers.settings import WorkerSettings
assert arq.worker.Worker is not stock
arq.worker.Worker = stock
arq.worker.run_worker(WorkerSettings)
"""


def arq(*options: str, **variables: str) -> Child:
    """The command line of arq."""
    return Child([sys.executable, "-m", "arq", "workers.settings.WorkerSettings", *options], env=_env(variables))


def _work(**variables: str) -> Child:
    """``receiver work``."""
    return Child([sys.executable, "-m", "ops.cli", "work"], env=_env(variables))


def _env(variables: dict[str, str]) -> dict[str, str]:
    return {name if name.isupper() else f"RECEIVER_{name.upper()}": value for name, value in variables.items()}


async def test_a_worker_runs_tasks_until_it_is_told_to_stop(stage: Stage) -> None:
    with arq(app=APP, redis_url=stage.url, log_format="json") as child:
        assert (await stage.call(app, "greet", name="Ada")).text == "Hello, Ada"
        assert await asyncio.to_thread(child.terminate) == 0
    assert '"worker_started"' in child.log
    assert "Traceback" not in child.log
    assert stage.blocking.keys(stage.keys.worker("*")) + stage.blocking.keys(stage.keys.held("*")) == []


async def test_burst_ends_by_itself(stage: Stage) -> None:
    task_id = await stage.create(app, "greet", name="Ada")
    with arq("--burst", app=APP, redis_url=stage.url) as child:
        assert await asyncio.to_thread(child.wait) == 0
    assert (await stage.record(task_id))["status"] == "completed"


async def test_a_stock_worker_refuses_with_one_clear_line(stage: Stage) -> None:
    env = _env({"app": APP, "redis_url": stage.url})
    with Child([sys.executable, "-c", STOCK], env=env) as child:
        assert await asyncio.to_thread(child.wait) == 1
    assert child.log == "receiver: a stock arq Worker can't serve this queue, as it would not honour leases\n"


@pytest.mark.parametrize(
    ("variables", "line"),
    [
        ({"redis_url": "unix:///nowhere"}, "receiver: set RECEIVER_APP to the application, as MODULE:attribute"),
        ({"redis_url": "unix:///nowhere", "app": APP}, "receiver: Redis at unix:///nowhere can't be reached: "),
        ({"redis_url": "unix:///nowhere", "app": "nowhere:app"}, "receiver: can't import nowhere: "),
        ({"app": APP}, "receiver: no Redis given: set RECEIVER_REDIS_URL"),
        ({"redis_url": "nowhere", "app": APP}, "receiver: RECEIVER_REDIS_URL is not the URL of a Redis: "),
        ({"redis_url": "unix:///nowhere", "app": APP, "lease_seconds": "0"}, "receiver: bad settings: "),
    ],
)
def test_what_can_t_start_is_one_clear_line(variables: dict[str, str], line: str) -> None:
    with arq(**variables) as child:
        assert child.wait() == 2
    assert child.log.startswith(line)
    assert child.log.count("\n") == 1


@pytest.mark.parametrize("starts", [arq, _work])
async def test_a_worker_and_its_processes_send_spans(stage: Stage, starts: Callable[..., Child]) -> None:
    """What an isolated run does belongs to its span; the variables are OpenTelemetry's own."""
    with starts(app=poison.NAME, redis_url=stage.url, OTEL_TRACES_EXPORTER="console") as child:
        await stage.call(poison.app, "tell_trace", record={"trace": f"00-{TRACE}-00f067aa0ba902b7-01"})
        assert await asyncio.to_thread(child.terminate) == 0
    assert '"name": "inner"' in child.log
    assert '"name": "run tell_trace"' in child.log
    assert child.log.count(f'"trace_id": "0x{TRACE}"') == 2
