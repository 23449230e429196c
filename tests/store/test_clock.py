"""The clocks of the machines do not count: every time is the store's."""

import time

import pytest

from receiver.store.runs import Verdict
from tests.store.backends import on_real_servers
from tests.store.world import ADA, World, finish


@on_real_servers  # the clock of fakeredis is this process's
@pytest.mark.parametrize("hours", [-1, 1])
async def test_a_clock_that_is_wrong_changes_no_time(
    world: World, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:  # F44
    before, right = await world.now(), time.time
    monkeypatch.setattr(time, "time", lambda: right() + hours * 3600)
    run = await world.start()
    assert world.beat(run) == {}
    assert await world.recover() == {}  # its lease has not ended
    (lease,) = [due for _, due in await world.redis.zrange(world.keys.leases(), 0, -1, withscores=True)]
    assert await finish(world, run) is Verdict.DONE
    task = await world.tasks.get(ADA, run.task_id)
    after = await world.now()
    assert before <= task.created_at <= task.updated_at <= after
    assert before < lease < after + 60_000
    assert 0 < await world.redis.pttl(world.keys.task(run.task_id)) <= 60_000
