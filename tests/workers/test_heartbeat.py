import asyncio
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from redis import Redis as BlockingRedis

import workers.roster
from receiver import Receiver
from receiver.store.workers import WorkerStore
from tests.processes import Child, Worker
from tests.proxy import Proxy
from tests.workers.claims import new_run
from tests.workers.lone_app import app as lone_app
from tests.workers.stage import Logs, Stage, until
from workers.heartbeat import EXIT_STALLED, Heartbeat
from workers.roster import Roster

INTERVAL = 0.05

app = Receiver("heart")


@app.tool
async def work() -> str:
    """Is never called here."""
    return "done"


@asynccontextmanager
async def beating(
    stage: Stage, roster: Roster, store: WorkerStore | None = None, **options: Any
) -> AsyncIterator[Heartbeat]:
    """A heartbeat on the stage, ended with the block."""
    options = {"presence": {"host": "here"}, "interval": INTERVAL, "stall_seconds": 60, **options}
    heartbeat = Heartbeat(store or stage.kit.beats, stage.kit.worker, roster, **options)
    heartbeat.start()
    try:
        yield heartbeat
    finally:
        await heartbeat.end(10)
        await stage.kit.runs.leave(stage.kit.worker)


async def start(stage: Stage, **record: int) -> tuple[Roster, str]:
    """A roster with one run, and the id of its task; ``record`` are fields of that."""
    await stage.create(app, "work", record=record)
    (active,) = await stage.claim(app)
    roster = Roster(1, 0)
    roster.add([active.claim], 1)
    return roster, active.claim.task_id


def lease_end(stage: Stage, task_id: str) -> float:
    """When the lease of a task ends, read without the loop."""
    end: float = stage.blocking.zscore(stage.keys.leases(), task_id)
    return end


async def test_operators_see_the_worker(stage: Stage) -> None:
    roster, _ = await start(stage)
    key = stage.keys.worker(stage.kit.worker)
    async with beating(stage, roster):
        await until(lambda: stage.redis.exists(key))
        seen = await stage.redis.hgetall(key)
        assert (seen[b"host"], seen[b"running"]) == (b"here", b"1")
        assert await stage.redis.zscore(stage.keys.workers(), stage.kit.worker)


async def test_leases_are_renewed_while_the_loop_is_held_up(stage: Stage) -> None:
    roster, task_id = await start(stage)
    before = lease_end(stage, task_id)
    async with beating(stage, roster):
        while lease_end(stage, task_id) < before + 1000:  # a whole lease
            time.sleep(0.02)  # noqa: ASYNC251 - this is what holds the loop up
    assert not (await stage.record(task_id)).get("lost")


@pytest.mark.parametrize("reason", ["cancelled", "finished", "superseded", "expired"])
async def test_the_store_s_reason_to_stop_reaches_the_run(stage: Stage, reason: str) -> None:
    roster, task_id = await start(stage)
    (active,) = roster.runs()
    stopped = asyncio.Event()
    active.on_change = stopped.set
    async with beating(stage, roster):
        if reason == "cancelled":
            await stage.cancel(task_id)
        elif reason == "finished":
            await stage.redis.hset(stage.keys.task(task_id), "status", "completed")
        elif reason == "superseded":
            await stage.redis.hset(stage.keys.task(task_id), "run", "2")
        else:
            await stage.redis.delete(stage.keys.task(task_id))
        await stopped.wait()
    assert active.stop_reason == reason


async def test_a_later_run_of_the_task_is_not_stopped(stage: Stage) -> None:
    roster, task_id = await start(stage)
    (first,) = roster.runs()
    await stage.redis.hset(stage.keys.task(task_id), "run", "2")
    heartbeat = Heartbeat(stage.kit.beats, stage.kit.worker, roster, {}, INTERVAL, 60)
    assert await asyncio.to_thread(heartbeat._beat)  # the answer waits for the loop, meanwhile:
    roster.remove(first)
    (second,) = roster.add([replace(first.claim, run=2)], 2)
    await asyncio.sleep(0)
    assert second.stop_reason is None


async def test_an_outage_is_one_warning_and_ends_by_itself(stage: Stage, logs: Logs) -> None:
    roster, task_id = await start(stage)
    assert stage.server is not None
    proxy = Proxy(stage.server.socket)
    blocking = BlockingRedis.from_url(proxy.url, socket_timeout=0.25)
    store = WorkerStore(blocking, stage.keys, lease=1000)
    async with beating(stage, roster, store):
        await until(lambda: logs.of("heartbeat_missed"))
        async with proxy:
            before = lease_end(stage, task_id)
            await until(lambda: lease_end(stage, task_id) > before)
            proxy.cut()
            before = lease_end(stage, task_id)
            await until(lambda: lease_end(stage, task_id) > before)
    assert 1 <= len(logs.of("heartbeat_missed")) <= 2
    assert not logs.of("heartbeat_failed")


async def test_an_error_of_ours_goes_to_the_log_and_is_tried_again(stage: Stage, logs: Logs) -> None:
    class Broken(WorkerStore):
        def beat(self, *arguments: Any) -> dict[str, str]:
            raise ValueError("a mistake")

    async with beating(stage, Roster(1, 0), Broken(stage.blocking, stage.keys, lease=1000)):
        await until(lambda: len(logs.of("heartbeat_failed")) >= 2)


async def test_no_beat_is_sent_after_the_end(stage: Stage) -> None:
    roster, _ = await start(stage)
    beats: list[str] = []

    class Slow(WorkerStore):
        def beat(self, *arguments: Any) -> dict[str, str]:
            began.set()
            may_go_on.wait()
            beats.append("sent")
            return {}

    began, may_go_on = threading.Event(), threading.Event()
    async with beating(stage, roster, Slow(stage.blocking, stage.keys, lease=1000)) as heartbeat:
        await until(began.is_set)
        ending = asyncio.create_task(heartbeat.end(10))
        await asyncio.sleep(0)
        assert beats == []
        may_go_on.set()
        await ending
        assert beats == ["sent"]
        assert not heartbeat.is_alive()


class Exited(BaseException):
    """In place of the end of the process."""


async def test_only_a_tick_that_is_owed_for_too_long_is_a_stall(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, logs: Logs, tmp_path: Path
) -> None:
    def leave(code: int) -> None:
        raise Exited(code)

    monkeypatch.setattr("os._exit", leave)
    stderr = (tmp_path / "stderr").open("w+")
    monkeypatch.setattr(sys, "__stderr__", stderr)
    heartbeat = Heartbeat(stage.kit.beats, stage.kit.worker, Roster(1, 0), {}, INTERVAL, stall_seconds=-1)
    for _ in range(3):
        heartbeat._watch_loop()
        await asyncio.sleep(0)  # the loop ticks
    assert not logs.of("event_loop_stalled")
    heartbeat._watch_loop()
    with pytest.raises(Exited, match=str(EXIT_STALLED)):
        heartbeat._watch_loop()
    stderr.close()


async def test_a_stalled_worker_ends_its_process_with_all_stacks(stage: Stage) -> None:
    task_id = await stage.create(lone_app, "hold_up")
    env = {
        "RECEIVER_APP": "tests.workers.lone_app:app",
        "RECEIVER_REDIS_URL": stage.url,
        "RECEIVER_LEASE_SECONDS": "1",
        "RECEIVER_STALL_SECONDS": "0.2",
    }
    with Child([sys.executable, "-m", "arq", "workers.settings.WorkerSettings"], env=env) as child:
        assert await asyncio.to_thread(child.wait) == EXIT_STALLED
    assert "event_loop_stalled" in child.log
    assert "in hold_up" in child.log
    assert (await stage.record(task_id))["status"] == "working"


async def test_a_run_that_should_have_ended_long_ago_is_not_renewed(
    stage: Stage, logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.roster, "OVERDUE_SECONDS", 0.1)
    roster, task_id = await start(stage, timeout=100)
    (active,) = roster.runs()
    active.is_watched = True
    async with beating(stage, roster):
        await until(lambda: logs.of("run_overdue"))
        end = lease_end(stage, task_id)
        await until(lambda: active.waits.elapsed > 0.4)  # some beats later
        assert lease_end(stage, task_id) == end
        assert (await stage.record(task_id)).get("handed_back") is None
        await until(stage.kit.runs.recover)
        assert (await stage.record(task_id))["lost"] == "1"
    assert len(logs.of("run_overdue")) == 1


@pytest.mark.parametrize("why", ["its end is being written", "it waits", "it has no timeout"])
async def test_a_run_is_not_overdue(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers.roster, "OVERDUE_SECONDS", -1)
    active = new_run(timeout="" if why == "it has no timeout" else 1)
    active.is_watched = why != "its end is being written"
    with active.waits.wait("sleep#1") if why == "it waits" else nullcontext():
        assert not active.is_overdue
    active.is_watched = True
    assert active.is_overdue == (why != "it has no timeout")


async def test_a_worker_that_is_held_up_when_it_shall_stop_ends_its_process(stage: Stage) -> None:
    task_id = await stage.create(lone_app, "hold_up")
    with Worker("tests.workers.lone_app:app", stage.url, lease_seconds=1, shutdown_grace_seconds=0.2) as child:

        async def runs() -> bool:
            return (await stage.record(task_id))["run"] == "1"

        await until(runs)
        assert await asyncio.to_thread(child.terminate) == EXIT_STALLED
    assert "in hold_up" in child.log
    assert (await stage.record(task_id))["status"] == "working"
