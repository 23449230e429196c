import pytest

import workers.janitor
from tests.workers.house import House
from tests.workers.stage import Logs, Stage, until
from workers.actor import Actors
from workers.janitor import keep_sweeping


async def expire(stage: Stage, task_id: str) -> None:
    """Ends the ttl of a task: what the store removes by itself is gone."""
    await stage.redis.delete(stage.keys.task(task_id), stage.keys.arq_job(task_id))
    entries = await stage.redis.zrange(stage.keys.expiry(), 0, -1)
    (entry,) = [entry for entry in entries if task_id.encode() in entry]
    await stage.redis.zadd(stage.keys.expiry(), {entry: 1})


async def test_all_expired_tasks_are_swept_and_unfinished_ones_are_worth_a_line(
    any_stage: Stage, logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.janitor, "BATCH", 2)
    app = House().app
    waiting = [await any_stage.create(app, "greet") for _ in range(3)]
    done = [await any_stage.create(app, "greet") for _ in range(2)]
    for task_id in done:
        await any_stage.cancel(task_id)
    for task_id in waiting + done:
        await expire(any_stage, task_id)
    actors = Actors()
    actors.spawn(keep_sweeping(any_stage.kit.runs, 3600))

    async def is_clear() -> bool:
        return not await any_stage.redis.exists(any_stage.keys.expiry())

    await until(is_clear)
    await actors.stop()
    assert {line["task_id"] for line in logs.of("task_expired")} == set(waiting)
    assert {line["status"] for line in logs.of("task_expired")} == {"working"}
