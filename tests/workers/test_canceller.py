from tests.workers.claims import new_claim
from tests.workers.house import House
from tests.workers.stage import Stage, until
from workers.actor import Actors
from workers.canceller import keep_cancelling
from workers.roster import Roster


async def test_only_the_run_whose_task_was_cancelled_is_stopped(any_stage: Stage) -> None:
    stage, app, roster = any_stage, House().app, Roster(3, 0)
    for _ in range(2):
        await stage.create(app, "greet")
    claims = [active.claim for active in await stage.claim(app, 2)]
    cancelled, other, gone = roster.add([*claims, new_claim()], 1)
    kit, actors = stage.kit, Actors()
    actors.spawn(keep_cancelling(kit.redis, kit.keys, kit.worker, kit.tasks, roster))
    channel = stage.keys.signals(kit.worker)

    async def is_listening() -> bool:
        return bool((await stage.redis.pubsub_numsub(channel))[0][1])

    await until(is_listening)
    await stage.cancel(cancelled.claim.task_id)
    await until(lambda: cancelled.stop_reason)
    await actors.stop()
    assert [run.stop_reason for run in (cancelled, other, gone)] == ["cancelled", None, None]
