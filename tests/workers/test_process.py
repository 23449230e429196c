import asyncio
import sys

from tests.processes import Child, Worker
from tests.workers.lone_app import app
from tests.workers.stage import Stage, until

APP = "tests.workers.lone_app:app"


async def test_a_worker_ends_when_it_is_told_to(stage: Stage) -> None:
    with Worker(APP, stage.url) as child:
        assert (await stage.call(app, "greet", name="Ada")).text == "Hello, Ada"
        assert await asyncio.to_thread(child.terminate) == 0
    assert "Traceback" not in child.log
    assert "threads_left_behind" not in child.log


async def test_a_thread_that_does_not_end_does_not_keep_the_process(stage: Stage) -> None:
    with Worker(APP, stage.url, shutdown_grace_seconds=0) as child:
        task_id = await stage.create(app, "linger")

        async def runs() -> bool:
            return (await stage.record(task_id))["run"] == "1"

        await until(runs)
        assert await asyncio.to_thread(child.terminate) == 0
    assert "threads_left_behind" in child.log
    assert (await stage.record(task_id))["handed_back"] == "1"


async def test_a_lifespan_that_fails_is_one_clear_line(stage: Stage) -> None:
    command = [sys.executable, "-m", "ops.cli", "work", "tests.workers.lone_app:broken"]
    with Child(command, env={"RECEIVER_REDIS_URL": stage.url}) as child:
        assert await asyncio.to_thread(child.wait) == 2
    assert child.log.startswith("receiver: the lifespan of 'broken' failed: OSError: no database (in ")
    assert child.log.count("\n") == 1
