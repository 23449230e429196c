import asyncio

import pytest

import workers.recoverer
from receiver import Receiver
from receiver.store.record import ClaimedRun
from tests.workers.house import House
from tests.workers.stage import Logs, Stage, until
from workers.actor import Actors
from workers.recoverer import keep_recovering


async def lose(stage: Stage, app: Receiver, count: int, **options: int) -> list[ClaimedRun]:
    """New tasks, claimed by a worker that is then no longer heard."""
    for _ in range(count):
        await stage.create(app, "greet", record=options)
    claims = [active.claim for active in await stage.claim(app, count)]
    await stage.redis.hset(stage.keys.clock(), mapping={"seen": 2**50, "hold_until": 0})  # workers are heard
    await stage.redis.zadd(stage.keys.leases(), {claim.task_id: 1 for claim in claims})
    return claims


@pytest.mark.parametrize(("max_attempts", "verdict", "status"), [(3, "requeued", "working"), (1, "failed", "failed")])
async def test_a_lost_run_goes_back_or_has_failed(
    any_stage: Stage, logs: Logs, max_attempts: int, verdict: str, status: str
) -> None:
    (claim,) = await lose(any_stage, House().app, 1, max_attempts=max_attempts)
    actors = Actors()
    actors.spawn(keep_recovering(any_stage.kit.runs, 3600))
    await until(lambda: logs.of("worker_lost"))
    await actors.stop()
    (line,) = logs.of("worker_lost")
    assert (line["task_id"], line["verdict"]) == (claim.task_id, verdict)
    assert (await any_stage.record(claim.task_id))["status"] == status


async def test_it_does_not_pause_before_all_are_recovered(
    any_stage: Stage, logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.recoverer, "BATCH", 2)
    await lose(any_stage, House().app, 5)
    actors = Actors()
    actors.spawn(keep_recovering(any_stage.kit.runs, 3600))
    await until(lambda: len(logs.of("worker_lost")) == 5)
    await actors.stop()


async def test_it_looks_again_after_a_pause(any_stage: Stage, logs: Logs) -> None:
    actors = Actors()
    actors.spawn(keep_recovering(any_stage.kit.runs, 0.01))
    await asyncio.sleep(0)
    await lose(any_stage, House().app, 1)
    await until(lambda: logs.of("worker_lost"))
    await actors.stop()
