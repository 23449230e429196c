"""Runs that wait: without a slot, without time that passes, and in the end without a worker."""

import asyncio
import signal

import pytest

import workers.listener
import workers.worker
from receiver import Context, Receiver
from receiver.protocol.client_task import ClientTask
from tests.workers.house import House
from tests.workers.requestor import Requestor
from tests.workers.scene import Gate
from tests.workers.stage import Logs, Stage, until
from workers.worker import ReceiverWorker

FOR_EVER = 3600.0
FORM = {"type": "object", "properties": {"name": {"type": "string"}}}


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture
async def requestor(stage: Stage, house: House) -> Requestor:
    requestor = Requestor(stage, house.app)
    await requestor.start()
    return requestor


class Author:
    """Tools that ask, and what their steps did."""

    def __init__(self, app: Receiver) -> None:
        self.done: list[str] = []
        self.ended: list[str] = []
        app.tool(name="ask")(self._ask)
        app.tool(name="ask_replay", replay=True)(self._ask)
        app.tool(name="ask_plain", replay=True)(self._ask_plainly)
        app.tool(name="nap", replay=True)(self._nap)
        app.tool(name="stubborn", replay=True)(self._swallow)

    def _step(self, name: str) -> str:
        self.done.append(name)
        return name

    async def _ask(self, ctx: Context) -> dict[str, int]:
        await ctx.step("before", self._step, "before")
        try:
            await ctx.elicit("Which?", FORM)
        finally:
            self.ended.append(f"run {ctx.run}")
        await ctx.step("after", self._step, "after")
        return {"run": ctx.run, "attempt": ctx.attempt}

    def _ask_plainly(self, ctx: Context) -> dict[str, int]:
        ctx.sync.step("before", self._step, "before")
        try:
            ctx.sync.elicit("Which?", FORM)
        finally:
            self.ended.append(f"run {ctx.run}")
        return {"run": ctx.run, "attempt": ctx.attempt}

    async def _nap(self, seconds: float, ctx: Context) -> dict[str, int]:
        await ctx.sleep(seconds)
        return {"run": ctx.run, "attempt": ctx.attempt}

    async def _swallow(self, ctx: Context) -> str:
        try:
            await ctx.elicit("Which?", FORM)
        except asyncio.CancelledError:
            self.ended.append(f"run {ctx.run}")
            return "swallowed"
        return f"run {ctx.run}"


@pytest.fixture
def author(house: House) -> Author:
    return Author(house.app)


async def until_waiting(worker: ReceiverWorker, count: int = 1) -> None:
    await until(lambda: sum(run.waits.is_waiting for run in worker.roster.runs()) == count)


async def until_parked(stage: Stage, task_id: str) -> None:
    async def is_parked() -> bool:
        return "parked" in await stage.record(task_id)

    await until(is_parked)


async def lose_signals(*_: object) -> None:
    """A listener that tells nobody."""


async def reread_never(*_: object) -> None:
    """A re-reader that never looks."""
    await asyncio.Event().wait()


# Slots and time


@pytest.mark.usefixtures("author")
async def test_a_run_that_waits_gives_its_slot_back(
    stage: Stage, house: House, requestor: Requestor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.worker, "POLL_SECONDS", FOR_EVER)  # who is not woken does not look
    async with stage.working(house.app, worker_concurrency=1) as worker:
        asking = await requestor.create("ask")
        await until_waiting(worker)
        assert worker.roster.slots.open == 1
        other = await stage.create(house.app, "wait", label="one")
        await house.gate("one").reached.wait()
        assert worker.roster.slots.free == 0
        await requestor.answer(asking)  # it goes on, whatever else runs
        assert (await stage.outcome(asking)).payload["structuredContent"] == {"run": 1, "attempt": 1}
        waiting = await stage.create(house.app, "greet")
        house.gate("one").opened.set()
        assert [(await stage.outcome(task)).status for task in (other, waiting)] == ["completed"] * 2


async def test_a_slot_is_given_back_to_who_waited_for_it(
    stage: Stage, house: House, requestor: Requestor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.worker, "POLL_SECONDS", FOR_EVER)
    gate = Gate()

    @house.app.tool
    async def ask_late(ctx: Context) -> None:
        await gate.wait()
        await ctx.elicit("Which?", FORM)

    async with stage.working(house.app, worker_concurrency=1):
        asking = await requestor.create("ask_late")
        await gate.reached.wait()
        waiting = await stage.create(house.app, "greet")
        gate.opened.set()
        assert (await stage.outcome(waiting)).status == "completed"
        await stage.cancel(asking)


async def test_a_timeout_does_not_count_what_is_waited(stage: Stage, house: House, requestor: Requestor) -> None:
    @house.app.tool(timeout=0.5)
    async def ask_and_hang(ctx: Context) -> None:
        await ctx.sleep(0.6)
        for _ in range(3):
            await ctx.step("work", lambda: None)  # which runs, and is not stopped for what was slept
        await ctx.elicit("Which?", FORM)
        await asyncio.Event().wait()

    async with stage.working(house.app) as worker:
        task_id = await requestor.create("ask_and_hang")
        await requestor.asked(task_id)  # it slept for longer than its timeout
        await until_waiting(worker)
        await requestor.answer(task_id)
        assert (await stage.outcome(task_id)).text == "Tool 'ask_and_hang' was stopped: it took longer than 0.5 s"
        assert (await stage.record(task_id))["run"] == "1"


async def test_the_ttl_counts_while_a_run_waits(stage: Stage, house: House) -> None:
    stopped = asyncio.Event()

    @house.app.tool
    async def nap(ctx: Context) -> None:
        try:
            await ctx.sleep(FOR_EVER)
        finally:
            stopped.set()

    async with stage.working(house.app) as worker:
        await stage.create(house.app, "nap", ttl=100)
        await stopped.wait()
        await until(lambda: not worker.roster)


@pytest.mark.usefixtures("author")
async def test_any_number_of_runs_may_wait(stage: Stage, house: House, requestor: Requestor) -> None:
    async with stage.working(house.app, worker_concurrency=2) as worker:
        tasks = [await requestor.create("ask") for _ in range(100)]
        await until_waiting(worker, 100)
        assert (worker.roster.slots.free, worker.roster.slots.open) == (2, 1)
        for task_id in tasks:
            await requestor.answer(task_id)
        outcomes = [(await stage.outcome(task_id)).payload["structuredContent"] for task_id in tasks]
    assert outcomes == [{"run": 1, "attempt": 1}] * 100


async def test_no_more_is_claimed_while_runs_that_waited_take_all_slots(
    stage: Stage, house: House, requestor: Requestor
) -> None:
    gate = Gate()

    @house.app.tool
    async def ask_and_work(ctx: Context) -> None:
        await ctx.elicit("Which?", FORM)
        await gate.wait()

    async with stage.working(house.app, worker_concurrency=1) as worker:
        tasks = [await requestor.create("ask_and_work") for _ in range(3)]
        await until_waiting(worker, 3)
        for task_id in tasks:
            await requestor.answer(task_id)
        await until_waiting(worker, 0)
        assert (len(worker.roster), worker.roster.slots.free) == (3, 0)
        other = await stage.create(house.app, "greet")
        await worker._claim(1_000_000)  # one more, whose answer nobody waits for
        assert (await stage.record(other))["run"] == "0"
        gate.opened.set()
        assert (await stage.outcome(other)).status == "completed"


# Parking


async def test_a_run_that_waits_is_parked_and_comes_back(
    stage: Stage, house: House, author: Author, requestor: Requestor
) -> None:
    async with stage.working(house.app, park_after_seconds=0.01) as worker:
        task_id = await requestor.create("ask_replay")
        await until_parked(stage, task_id)
        await until(lambda: not worker.roster)
        assert author.ended == ["run 1"]
        await requestor.answer(task_id)
        assert (await stage.outcome(task_id)).payload["structuredContent"] == {"run": 2, "attempt": 1}
    assert author.done == ["before", "after"]


@pytest.mark.usefixtures("author")
async def test_an_answer_that_nobody_told_of_is_found_when_it_shall_be_parked(
    stage: Stage, house: House, requestor: Requestor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.listener, "_look", lose_signals)
    monkeypatch.setattr(workers.worker, "keep_rereading", reread_never)
    async with stage.working(house.app, park_after_seconds=0.3) as worker:
        task_id = await requestor.create("ask_replay")
        await until_waiting(worker)
        await requestor.answer(task_id)
        assert (await stage.outcome(task_id)).payload["structuredContent"] == {"run": 1, "attempt": 1}


@pytest.mark.usefixtures("author")
async def test_it_may_be_parked_again_and_again(stage: Stage, house: House, requestor: Requestor) -> None:
    @house.app.tool(replay=True, max_attempts=1)
    async def ask_twice(ctx: Context) -> dict[str, int]:
        for _ in range(2):
            await ctx.elicit("Which?", FORM)
        return {"run": ctx.run, "attempt": ctx.attempt}

    async with stage.working(house.app, park_after_seconds=0.01):
        task_id = await requestor.create("ask_twice")
        for _ in range(2):
            await until_parked(stage, task_id)
            await requestor.answer(task_id)
        assert (await stage.outcome(task_id)).payload["structuredContent"] == {"run": 3, "attempt": 1}


@pytest.mark.usefixtures("author")
async def test_the_next_worker_goes_on_when_all_were_gone(stage: Stage, house: House, requestor: Requestor) -> None:
    async with stage.working(house.app, park_after_seconds=0.01):
        task_id = await requestor.create("ask_replay")
        await until_parked(stage, task_id)
    await requestor.answer(task_id)
    async with stage.working(house.app):
        assert (await stage.outcome(task_id)).payload["structuredContent"] == {"run": 2, "attempt": 1}


async def test_a_thread_that_waits_is_parked_too(
    stage: Stage, house: House, author: Author, requestor: Requestor, logs: Logs
) -> None:
    async with stage.working(house.app, park_after_seconds=0.01) as worker:
        tasks = [await requestor.create("ask_plain") for _ in range(10)]  # more than may be abandoned
        for task_id in tasks:
            await until_parked(stage, task_id)
        await until(lambda: len(author.ended) == 10)
        for task_id in tasks:
            await requestor.answer(task_id)
        assert {(await stage.outcome(task_id)).payload["structuredContent"]["attempt"] for task_id in tasks} == {1}
        assert not worker._is_worn
    assert author.done == ["before"] * 10
    assert not logs.of("tool_goes_on")


async def test_a_tool_that_swallows_its_end_has_no_outcome(
    stage: Stage, house: House, author: Author, requestor: Requestor
) -> None:
    async with stage.working(house.app, park_after_seconds=0.01) as worker:
        task_id = await requestor.create("stubborn")
        await until_parked(stage, task_id)
        await until(lambda: not worker.roster)
        assert (author.ended, (await stage.record(task_id))["status"]) == (["run 1"], "input_required")
        await requestor.answer(task_id)
        assert (await stage.outcome(task_id)).text == "run 2"


@pytest.mark.usefixtures("author")
async def test_a_parked_sleep_ends(stage: Stage, house: House) -> None:
    async with stage.working(house.app, park_after_seconds=0) as worker:
        task_id = await stage.create(house.app, "nap", seconds=FOR_EVER)
        await until_parked(stage, task_id)
        await until(lambda: not worker.roster)
        await stage.redis.hset(stage.keys.steps(task_id), "sleep#1:due", 1)
        await stage.redis.zadd(stage.keys.later(), {task_id: 1})
        assert (await stage.outcome(task_id)).payload["structuredContent"] == {"run": 2, "attempt": 1}


@pytest.mark.usefixtures("author")
async def test_what_can_not_be_replayed_stays_in_memory(stage: Stage, house: House, requestor: Requestor) -> None:
    async with stage.working(house.app, park_after_seconds=0) as worker:
        task_id = await requestor.create("ask")
        await until_waiting(worker)
        await requestor.answer(task_id)
        assert (await stage.outcome(task_id)).payload["structuredContent"] == {"run": 1, "attempt": 1}


async def test_a_step_that_works_beside_a_question_is_not_parked(
    stage: Stage, house: House, requestor: Requestor
) -> None:
    gate = Gate()

    @house.app.tool(replay=True)
    async def ask_and_work(ctx: Context) -> int:
        await asyncio.gather(ctx.elicit("Which?", FORM), ctx.step("work", gate.wait))
        return ctx.run

    async with stage.working(house.app, park_after_seconds=0) as worker:
        task_id = await requestor.create("ask_and_work")
        await requestor.asked(task_id)
        await gate.reached.wait()
        (active,) = worker.roster.runs()
        assert not active.waits.is_waiting
        gate.opened.set()
        await until_parked(stage, task_id)
        await requestor.answer(task_id)
        assert (await stage.outcome(task_id)).payload["structuredContent"] == {"result": 2}


@pytest.mark.usefixtures("author")
async def test_a_parked_task_is_cancelled(stage: Stage, house: House, requestor: Requestor) -> None:
    async with stage.working(house.app, park_after_seconds=0.01):
        task_id = await requestor.create("ask_replay")
        await until_parked(stage, task_id)
        await stage.cancel(task_id)
        assert (await stage.outcome(task_id)).status == "cancelled"


@pytest.mark.usefixtures("author")
async def test_a_task_of_the_client_brings_it_back_to_be_polled(
    stage: Stage, house: House, requestor: Requestor
) -> None:
    async with stage.working(house.app, park_after_seconds=0.01) as worker:
        task_id = await requestor.create("ask_replay")
        await until_parked(stage, task_id)
        theirs = ClientTask("theirs", "working", 3_600_000, 0)
        assert await stage.kit.inputs.accept(await requestor.asked(task_id), requestor.session, theirs)

        async def is_polled() -> bool:
            return (await stage.kit.inputs.look(task_id, "elicitation/create#1")).is_polled

        await until(is_polled)
        await until_waiting(worker)
        assert "parked" not in await stage.record(task_id)
        await stage.cancel(task_id)


# Shutdown


@pytest.mark.parametrize("tool", ["ask", "ask_replay"])
@pytest.mark.usefixtures("author")
async def test_a_run_that_waits_does_not_hold_up_its_worker(
    stage: Stage, house: House, requestor: Requestor, tool: str
) -> None:
    async with stage.working(house.app, shutdown_grace_seconds=FOR_EVER) as worker:
        task_id = await requestor.create(tool)
        await requestor.asked(task_id)
        await until_waiting(worker)
        worker.handle_sig(signal.SIGTERM)
        assert worker.main_task is not None
        await worker.main_task
        record = await stage.record(task_id)
        assert (record["handed_back"], record.get("parked")) == ("1", "1" if tool == "ask_replay" else None)
    await requestor.answer(task_id)
    async with stage.working(house.app):
        assert (await stage.outcome(task_id)).payload["structuredContent"] == {"run": 2, "attempt": 1}


async def test_a_run_that_begins_to_wait_while_its_worker_stops_is_handed_back(
    stage: Stage, house: House, requestor: Requestor
) -> None:
    gate = Gate()

    @house.app.tool
    async def ask_late(ctx: Context) -> int:
        await gate.wait()
        await ctx.elicit("Which?", FORM)
        return ctx.attempt

    async with stage.working(house.app, shutdown_grace_seconds=FOR_EVER) as worker:
        task_id = await requestor.create("ask_late")
        await gate.reached.wait()
        worker.handle_sig(signal.SIGTERM)
        await until(lambda: all(run.is_leaving for run in worker.roster.runs()))
        gate.opened.set()
        assert worker.main_task is not None
        await worker.main_task
    assert (await stage.record(task_id))["handed_back"] == "1"
    async with stage.working(house.app):
        await requestor.answer(task_id)
        assert (await stage.outcome(task_id)).payload["structuredContent"] == {"result": 1}
