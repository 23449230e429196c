"""How a worker stops."""

import asyncio
import signal
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest
from redis import Redis as BlockingRedis

import workers.runner
import workers.threads
import workers.worker
from receiver import Receiver
from receiver.store.client import connect
from tests.proxy import Proxy
from tests.servers import Server
from tests.workers.house import House, worker_keys
from tests.workers.scene import ThreadGate
from tests.workers.stage import Logs, Stage, until
from workers.equipment import Equipment
from workers.worker import EXIT_WORN, ReceiverWorker

FOR_EVER = 3600


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture
async def proxy(stage: Stage) -> AsyncIterator[Proxy]:
    assert stage.server is not None
    async with Proxy(stage.server.socket) as proxy:
        yield proxy
        for _ in range(10):
            await asyncio.sleep(0)  # it takes up whoever has connected already, and so can end them


def behind(proxy: Proxy, stage: Stage) -> Equipment:
    """Equipment whose loop speaks to the store through the proxy, and whose heartbeat does not."""
    settings = stage.settings()
    return Equipment.of(connect(proxy.url), BlockingRedis.from_url(stage.url), settings)


async def test_a_worker_without_work_stops_and_leaves_nothing(stage: Stage, house: House) -> None:
    async with stage.working(house.app, shutdown_grace_seconds=FOR_EVER) as worker:
        await until(lambda: len(worker_keys(stage, worker)) >= 3)
        worker.handle_sig(signal.SIGTERM)
        assert worker.main_task is not None
        await worker.main_task
        assert worker_keys(stage, worker) == []
        assert not worker.actors._tasks


async def test_a_beat_on_its_way_does_not_bring_the_worker_back(
    stage: Stage, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit = stage.equip(stage.settings())
    beat, began, may_go_on, ended = kit.beats.beat, threading.Event(), threading.Event(), threading.Event()

    def beat_slowly(*arguments: Any) -> dict[str, str]:
        began.set()
        may_go_on.wait()
        stops = beat(*arguments)
        ended.set()
        return stops

    monkeypatch.setattr(kit.beats, "beat", beat_slowly)
    async with stage.working(house.app, equipment=kit) as worker:
        await until(began.is_set)
        worker.handle_sig(signal.SIGTERM)
        await until(lambda: not worker.actors._tasks)
        await asyncio.sleep(0.01)  # enough for a worker that would not wait for its heartbeat to leave
        may_go_on.set()
    await until(ended.is_set)
    assert worker_keys(stage, worker) == []


async def test_a_run_may_end_within_the_grace_period(stage: Stage, house: House) -> None:
    async with stage.working(house.app, shutdown_grace_seconds=FOR_EVER) as worker:
        task_id = await stage.create(house.app, "wait", label="one")
        await house.gate("one").reached.wait()
        worker.handle_sig(signal.SIGTERM)
        house.gate("one").opened.set()
        assert (await stage.outcome(task_id)).payload["structuredContent"] == {"run": 1, "attempt": 1}


async def test_a_run_that_takes_longer_is_handed_back_and_costs_no_attempt(stage: Stage, house: House) -> None:
    async with stage.working(house.app, shutdown_grace_seconds=0.01) as worker:
        task_id = await stage.create(house.app, "wait", label="one")
        await house.gate("one").reached.wait()
        worker.handle_sig(signal.SIGTERM)
        await house.gate("one").stopped.wait()
    assert (await stage.record(task_id))["handed_back"] == "1"
    assert worker_keys(stage, worker) == []
    house.gate("one").opened.set()
    async with stage.working(house.app):
        assert (await stage.outcome(task_id)).payload["structuredContent"] == {"run": 2, "attempt": 1}


async def test_a_second_signal_ends_the_grace_period(stage: Stage, house: House) -> None:
    async with stage.working(house.app, shutdown_grace_seconds=FOR_EVER) as worker:
        task_id = await stage.create(house.app, "wait", label="one")
        await house.gate("one").reached.wait()
        worker.handle_sig(signal.SIGTERM)
        await asyncio.sleep(0)
        assert not house.gate("one").stopped.is_set()
        worker.handle_sig(signal.SIGTERM)
        await house.gate("one").stopped.wait()
    assert (await stage.record(task_id))["handed_back"] == "1"


async def test_a_stopping_worker_takes_nothing_and_leaves_it_to_others(
    stage: Stage, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.worker, "POLL_SECONDS", FOR_EVER)
    async with stage.working(house.app, shutdown_grace_seconds=FOR_EVER) as stopping:
        await stage.create(house.app, "wait", label="one")
        await house.gate("one").reached.wait()
        await until(lambda: len(stopping.doorbell._listening) > 1)
        stopping.handle_sig(signal.SIGTERM)
        async with stage.working(house.app) as other:
            await until(lambda: other.doorbell._listening)
            tasks = [await stage.create(house.app, "greet") for _ in range(5)]
            assert {(await stage.outcome(task_id)).status for task_id in tasks} == {"completed"}
        assert len(stopping.roster) == 1


async def test_what_a_claim_brought_that_nobody_waits_for_goes_back(
    stage: Stage, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit = stage.equip(stage.settings())
    claim, executed = kit.runs.claim, asyncio.Event()

    async def claim_unheard(*arguments: Any) -> Any:
        claims, due = await claim(*arguments)
        if any(claimed.text("tool") == "greet" for claimed in claims):
            executed.set()
            await asyncio.Event().wait()  # the answer never arrives
        return claims, due

    monkeypatch.setattr(kit.runs, "claim", claim_unheard)
    async with stage.working(house.app, equipment=kit, shutdown_grace_seconds=FOR_EVER) as worker:
        await stage.create(house.app, "wait", label="one")
        await house.gate("one").reached.wait()
        task_id = await stage.create(house.app, "greet")
        await executed.wait()
        assert (await stage.record(task_id))["run"] == "1"
        worker.handle_sig(signal.SIGTERM)
        async with stage.working(house.app):
            assert (await stage.outcome(task_id)).status == "completed"
        assert len(worker.roster) == 1  # it still waits for the other run
    record = await stage.record(task_id)
    assert (record["run"], record["attempt"]) == ("2", "1")


async def test_a_worker_stops_while_the_store_is_away(
    stage: Stage, house: House, proxy: Proxy, logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.worker, "STOP_SECONDS", 0.05)
    async with stage.working(house.app, equipment=behind(proxy, stage), shutdown_grace_seconds=0.01):
        task_id = await stage.create(house.app, "wait", label="one")
        await house.gate("one").reached.wait()
        proxy.hold()
    assert logs.of("worker_left_unheard")
    assert (await stage.record(task_id))["status"] == "working"
    proxy.release()


async def test_an_outcome_is_kept_until_the_store_is_back(stage: Stage, house: House, proxy: Proxy) -> None:
    async with stage.working(house.app, equipment=behind(proxy, stage)):
        task_id = await stage.create(house.app, "wait", label="one")
        await house.gate("one").reached.wait()
        proxy.hold()
        house.gate("one").opened.set()
        proxy.cut()
        proxy.release()
        assert (await stage.outcome(task_id)).payload["structuredContent"] == {"run": 1, "attempt": 1}


async def test_threads_that_a_shutdown_abandons_do_not_count(
    stage: Stage, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.threads, "ABANDONED_LIMIT", 0)
    monkeypatch.setattr(workers.runner, "STOP_SECONDS", 0.01)
    gate = ThreadGate()

    @house.app.tool
    def hold() -> None:
        gate.wait()

    async with stage.working(house.app) as worker:
        task_id = await stage.create(house.app, "hold")
        await gate.reached.wait()
    assert not worker._is_worn
    assert (await stage.record(task_id))["handed_back"] == "1"
    gate.opened.set()


def test_a_worker_with_too_many_abandoned_threads_ends_for_its_supervisor(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.threads, "ABANDONED_LIMIT", 0)
    app, opened = Receiver("house"), threading.Event()

    @app.tool(timeout=0.01)
    def wait() -> None:
        opened.wait()

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)

    async def begin() -> tuple[Stage, str]:
        stage = Stage.open(server)
        return stage, await stage.create(app, "wait")

    stage, task_id = loop.run_until_complete(begin())
    worker = ReceiverWorker(app=app, settings=stage.settings(), handle_signals=False)
    with pytest.raises(SystemExit) as caught:
        worker.run()
    assert caught.value.code == EXIT_WORN
    assert loop.run_until_complete(stage.record(task_id))["status"] == "failed"
    opened.set()
    loop.run_until_complete(stage.close())
    loop.close()
    asyncio.set_event_loop(None)


async def test_what_may_run_once_is_lost_if_its_end_does_not_reach_the_store(
    stage: Stage, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.worker, "STOP_SECONDS", 0.05)
    kit = stage.equip(stage.settings())

    async def finish_never(*arguments: Any) -> Any:
        await asyncio.Event().wait()

    monkeypatch.setattr(kit.runs, "finish", finish_never)
    async with stage.working(house.app, equipment=kit, shutdown_grace_seconds=0.01):
        task_id = await stage.create(house.app, "wait", record={"max_attempts": 1}, label="one")
        await house.gate("one").reached.wait()
    record = await stage.record(task_id)
    assert (record["status"], record.get("handed_back")) == ("working", None)
