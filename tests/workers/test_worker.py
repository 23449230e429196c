"""A worker in this process, on a real server."""

import asyncio
import pickle
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from redis import Redis as BlockingRedis

import workers.doorbell
import workers.worker
from receiver import Context, Receiver
from receiver.protocol.errors import StartupError
from receiver.queue import encode_job
from receiver.store.client import connect
from tests.workers.house import House, worker_keys
from tests.workers.scene import Gate
from tests.workers.stage import Logs, Stage, until
from workers.equipment import Equipment
from workers.runner import Runner
from workers.worker import ReceiverWorker

FOR_EVER = 3600.0
INTERNAL_ERROR = -32603


@pytest.fixture
def unpolled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that are not woken do not look."""
    monkeypatch.setattr(workers.worker, "POLL_SECONDS", FOR_EVER)


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture
def app(house: House) -> Receiver:
    return house.app


# Taking jobs


@pytest.mark.usefixtures("unpolled")
async def test_a_task_is_taken_when_it_is_created(stage: Stage, app: Receiver) -> None:
    async with stage.working(app) as worker:
        await until(lambda: worker.doorbell._listening)
        assert (await stage.call(app, "greet", name="Ada")).text == "Hello, Ada"
        assert (await stage.call(app, "greet", kind="call")).text == "Hello, you"


async def test_tasks_that_waited_already_are_taken(stage: Stage, app: Receiver) -> None:
    task_id = await stage.create(app, "greet")
    async with stage.working(app):
        assert (await stage.outcome(task_id)).status == "completed"


async def test_a_plain_call_does_not_wait_behind_tasks(stage: Stage, app: Receiver, house: House) -> None:
    async with stage.working(app, worker_concurrency=3) as worker:
        running = [await stage.create(app, "wait", label=label) for label in ("one", "two")]
        await house.gate("one").reached.wait()
        await house.gate("two").reached.wait()
        waiting = await stage.create(app, "wait", label="three")
        assert (await stage.call(app, "greet", kind="call")).text == "Hello, you"
        await until(lambda: len(worker.roster) == 2)
        assert worker.roster.slots.open == 0
        assert not house.gate("three").reached.is_set()
        for label in ("one", "two", "three"):
            house.gate(label).opened.set()
        for task_id in (*running, waiting):
            assert (await stage.outcome(task_id)).status == "completed"


async def test_no_slot_is_reserved_where_no_plain_calls_are_served(stage: Stage, app: Receiver) -> None:
    async with stage.working(app, lanes=["default"], worker_concurrency=3) as worker:
        assert worker.roster.slots.open == 3


async def test_a_worker_serves_its_lanes_only(stage: Stage, app: Receiver, house: House) -> None:
    app.tool(name="lift", lane="heavy")(lambda: "heavy")
    other = await stage.create(app, "greet")
    async with stage.working(app, lanes=["heavy"]):
        assert (await stage.call(app, "lift")).text == "heavy"
    assert (await stage.record(other))["run"] == "0"


@pytest.mark.usefixtures("unpolled")
async def test_the_next_task_is_taken_when_a_slot_is_free(stage: Stage, app: Receiver, house: House) -> None:
    async with stage.working(app, worker_concurrency=1):
        first, second = [await stage.create(app, "wait", label=label) for label in ("one", "two")]
        await house.gate("one").reached.wait()
        house.gate("one").opened.set()
        await house.gate("two").reached.wait()
        house.gate("two").opened.set()
        assert [(await stage.outcome(task)).status for task in (first, second)] == ["completed"] * 2


@pytest.mark.usefixtures("unpolled")
async def test_a_listener_that_was_deaf_hears_again(
    stage: Stage, app: Receiver, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.doorbell, "WAIT_SECONDS", FOR_EVER)
    settings = stage.settings()
    patient = Equipment.of(connect(stage.url), BlockingRedis.from_url(stage.url), settings)
    async with stage.working(app, equipment=patient, worker_concurrency=1) as worker:
        await stage.create(app, "wait", label="one")
        await house.gate("one").reached.wait()
        second = await stage.create(app, "wait", label="two")
        await until(lambda: len(worker.doorbell._listening) == 1)  # its own
        house.gate("one").opened.set()
        await house.gate("two").reached.wait()
        house.gate("two").opened.set()
        await stage.outcome(second)
        await until(lambda: len(worker.roster) == 0)
        assert (await stage.call(app, "greet")).text == "Hello, you"


@pytest.mark.usefixtures("unpolled")
async def test_max_running_holds_for_all_workers(stage: Stage, app: Receiver) -> None:
    running, most = 0, 0

    @app.tool(max_running=2)
    async def scan() -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return "done"

    async with stage.working(app), stage.working(app):
        tasks = [await stage.create(app, "scan") for _ in range(12)]
        outcomes = [await stage.outcome(task_id) for task_id in tasks]
    assert {outcome.status for outcome in outcomes} == {"completed"}
    assert most == 2


async def test_two_workers_share_the_work_and_do_nothing_twice(stage: Stage, app: Receiver) -> None:
    runs: Counter[str | None] = Counter()

    @app.tool
    async def count(ctx: Context) -> str:
        runs[ctx.task_id] += 1
        return "done"

    async with stage.working(app), stage.working(app):
        tasks = [await stage.create(app, "count") for _ in range(200)]
        outcomes = [await stage.outcome(task_id) for task_id in tasks]
    assert {outcome.status for outcome in outcomes} == {"completed"}
    assert runs == Counter(tasks)
    assert {(await stage.record(task_id))["run"] for task_id in tasks} == {"1"}


async def test_a_tool_has_as_many_attempts_as_its_author_gave_it(stage: Stage, app: Receiver) -> None:
    async with stage.working(app):
        outcome = await stage.call(app, "greet", record={"attempt": 41, "max_attempts": 50})
    assert outcome.text == "Hello, you"


async def test_a_claim_that_fails_is_not_the_end(
    stage: Stage, app: Receiver, logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.worker, "POLL_SECONDS", 0.01)
    kit = stage.equip(stage.settings())
    claim, failures = kit.runs.claim, [ValueError("a mistake")]

    async def fail_once(*arguments: Any) -> Any:
        if failures:
            raise failures.pop()
        return await claim(*arguments)

    monkeypatch.setattr(kit.runs, "claim", fail_once)
    async with stage.working(app, equipment=kit):
        assert (await stage.call(app, "greet")).text == "Hello, you"
    assert len(logs.of("claim_failed")) == 1


async def test_burst_ends_when_nothing_waits(stage: Stage, app: Receiver) -> None:
    tasks = [await stage.create(app, "greet") for _ in range(30)]
    worker = ReceiverWorker(app=app, settings=stage.settings(), burst=True, handle_signals=False)
    await worker.async_run()
    await worker.close()
    assert {(await stage.record(task_id))["status"] for task_id in tasks} == {"completed"}
    assert worker_keys(stage, worker) == []


# Leases


async def test_a_cancelled_task_s_coroutine_is_cancelled(stage: Stage, app: Receiver, house: House) -> None:
    async with stage.working(app, lease_seconds=1000) as worker:  # no heartbeat comes to help
        task_id = await stage.create(app, "wait", label="one")
        await house.gate("one").reached.wait()
        await stage.cancel(task_id)
        await house.gate("one").stopped.wait()
        await until(lambda: len(worker.roster) == 0)
    assert (await stage.outcome(task_id)).status == "cancelled"


async def test_a_run_whose_lease_lapsed_goes_on_where_nobody_else_took_it(
    stage: Stage, app: Receiver, house: House
) -> None:
    settings = stage.settings()
    cut_off = Equipment.of(connect(stage.url), BlockingRedis.from_url("unix:///nowhere"), settings)
    async with stage.working(app, equipment=cut_off):
        task_id = await stage.create(app, "wait", label="one")
        await house.gate("one").reached.wait()
        first_end = int((await stage.record(task_id))["lease_until"])

        async def has_lapsed() -> bool:
            return int((await stage.record(task_id)).get("lease_until", 0)) > first_end

        await until(has_lapsed)
        house.gate("one").opened.set()
        assert (await stage.outcome(task_id)).payload["structuredContent"] == {"run": 1, "attempt": 1}


async def test_an_older_run_changes_nothing(stage: Stage, app: Receiver, house: House, logs: Logs) -> None:
    async with stage.working(app, lease_seconds=1000) as worker:
        task_id = await stage.create(app, "wait", label="one")
        await house.gate("one").reached.wait()
        await stage.redis.hset(stage.keys.task(task_id), mapping={"run": 2, "worker": "another:1:ab"})
        before = await stage.record(task_id)
        house.gate("one").opened.set()
        await until(lambda: len(worker.roster) == 0)
    assert await stage.record(task_id) == before
    assert [line["verdict"] for line in logs.of("outcome_dropped")] == ["superseded"]


# What can't be run


def _job(**fields: Any) -> bytes:
    return orjson.dumps({**orjson.loads(encode_job("0-" + "0" * 32)), **fields})


@pytest.mark.parametrize(
    "job",
    [None, b"{", _job(f="other"), _job(f=[]), _job(a=5), _job(a=["a", "b"]), _job(k={"x": 1}), _job(et="x"), _job(t=9)],
    ids=["none", "no JSON", "another function", "f", "a", "two arguments", "k", "et", "t"],
)
async def test_a_damaged_job_ends_its_task_and_nothing_else(stage: Stage, app: Receiver, job: bytes | None) -> None:
    task_id = await stage.create(app, "greet")
    key = stage.keys.arq_job(task_id)
    await (stage.redis.delete(key) if job is None else stage.redis.set(key, job, keepttl=True))
    async with stage.working(app):
        outcome = await stage.outcome(task_id)
        assert (outcome.status, outcome.kind, outcome.payload["code"]) == ("failed", "error", INTERNAL_ERROR)
        assert (await stage.call(app, "greet")).text == "Hello, you"


class Bomb:
    """Whoever unpickles this makes a file."""

    def __init__(self, canary: Path) -> None:
        self._canary = canary

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str, str]]:
        return open, (str(self._canary), "w")


async def test_nothing_from_the_store_is_unpickled(stage: Stage, app: Receiver, tmp_path: Path) -> None:  # F27
    canary = tmp_path / "canary"
    pickle.loads(pickle.dumps(Bomb(canary))).close()  # noqa: S301 - it goes off
    canary.unlink()
    task_id = await stage.create(app, "greet")
    await stage.redis.set(stage.keys.arq_job(task_id), pickle.dumps(Bomb(canary)), keepttl=True)
    await stage.redis.hset(stage.keys.task(task_id), "params", pickle.dumps(Bomb(canary)))
    async with stage.working(app):
        assert (await stage.outcome(task_id)).status == "failed"
    assert not canary.exists()


@pytest.mark.parametrize("field", ["params", "principal", "schema", "timeout"])
async def test_a_damaged_record_ends_its_task_and_nothing_else(stage: Stage, app: Receiver, field: str) -> None:
    @app.tool
    async def look(ctx: Context) -> str:
        return "done"

    async with stage.working(app):
        outcome = await stage.call(app, "look", record={field: "{"})
        assert (outcome.status, outcome.kind, outcome.payload["code"]) == ("failed", "error", INTERNAL_ERROR)
        assert (await stage.call(app, "look")).text == "done"


async def test_a_mistake_of_the_runner_does_not_go_round_for_ever(
    stage: Stage, app: Receiver, logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*arguments: Any) -> None:
        raise ValueError("a mistake")

    monkeypatch.setattr(Runner, "_execute", fail)
    async with stage.working(app):
        task_id = await stage.create(app, "greet")
        outcome = await stage.outcome(task_id)
    assert outcome.payload == {"code": INTERNAL_ERROR, "message": "The worker could not run this task"}
    assert (await stage.record(task_id))["run"] == "1"


@pytest.mark.parametrize("hook", ["on_job_start", "on_job_end", "after_job_end"])
async def test_a_hook_that_raises_does_not_end_the_worker(stage: Stage, app: Receiver, hook: str, logs: Logs) -> None:
    async def fail(ctx: dict[Any, Any]) -> None:
        raise ValueError("a mistake")

    async with stage.working(app) as worker:
        setattr(worker, hook, fail)
        outcome = await stage.call(app, "greet")
        assert outcome.status == ("failed" if hook == "on_job_start" else "completed")
        await until(lambda: logs.of("run_failed"))
        setattr(worker, hook, None)
        assert (await stage.call(app, "greet")).text == "Hello, you"


# Beginning


async def test_the_lifespan_is_entered_once_and_gives_the_state(stage: Stage) -> None:
    events: list[str] = []

    @asynccontextmanager
    async def lifespan(app: Receiver) -> AsyncIterator[str]:
        events.append(f"enter {app.name}")
        yield "the pool"
        events.append("leave")

    app = Receiver("house", lifespan=lifespan)

    @app.tool
    async def look(ctx: Context) -> str:
        return str(ctx.state)

    async with stage.working(app):
        outcomes = [await stage.call(app, "look") for _ in range(2)]
    assert [outcome.text for outcome in outcomes] == ["the pool"] * 2
    assert events == ["enter house", "leave"]


async def test_a_lifespan_that_fails_is_one_clear_line(stage: Stage) -> None:
    @asynccontextmanager
    async def lifespan(app: Receiver) -> AsyncIterator[None]:
        raise OSError("no\ndatabase")
        yield  # what makes it a generator

    app = Receiver("house", lifespan=lifespan)
    worker = ReceiverWorker(app=app, settings=stage.settings(), handle_signals=False)
    with pytest.raises(StartupError) as caught:
        await worker.async_run()
    await worker.close()
    place = f"(in {__file__}, line {lifespan.__wrapped__.__code__.co_firstlineno + 2})"  # type: ignore[attr-defined]
    assert str(caught.value) == f"the lifespan of 'house' failed: OSError: no database {place}"
    assert worker_keys(stage, worker) == []


async def test_a_signal_does_not_wait_for_the_lifespan(stage: Stage) -> None:
    gate = Gate()

    @asynccontextmanager
    async def lifespan(app: Receiver) -> AsyncIterator[None]:
        await gate.wait()
        yield

    worker = ReceiverWorker(app=Receiver("house", lifespan=lifespan), settings=stage.settings(), handle_signals=False)
    running = asyncio.create_task(worker.async_run())
    await gate.reached.wait()
    worker.handle_sig(signal.SIGTERM)
    with pytest.raises(asyncio.CancelledError):
        await running
    await worker.close()
    assert gate.stopped.is_set()


async def test_a_store_that_can_t_be_reached_is_one_clear_line(app: Receiver) -> None:
    settings = Stage.open(None).settings(redis_url="unix:///nowhere")
    worker = ReceiverWorker(app=app, settings=settings, handle_signals=False)
    with pytest.raises(StartupError, match="can't be reached"):
        await worker.async_run()
    await worker.close()
