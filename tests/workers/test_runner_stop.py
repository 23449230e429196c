"""How runs are stopped."""

import asyncio
from typing import Any, NoReturn

import pytest

import workers.runner
from receiver import Context
from tests.workers.scene import Gate, Scene, ThreadGate
from tests.workers.stage import Logs, Stage, until
from workers.roster import StopReason


@pytest.fixture
def scene(any_stage: Stage) -> Scene:
    return Scene(any_stage)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for what does not stop."""
    monkeypatch.setattr(workers.runner, "STOP_SECONDS", 0.01)


async def test_a_coroutine_that_takes_too_long_is_cancelled(scene: Scene) -> None:
    gate = Gate()

    @scene.app.tool(timeout=0.02)
    async def wait() -> None:
        await gate.wait()

    record = await scene.run("wait")
    assert gate.stopped.is_set()
    assert (record.status, record.text) == ("failed", "Tool 'wait' was stopped: it took longer than 0.02 s")


async def test_a_thread_that_takes_too_long_is_left_behind(scene: Scene) -> None:
    gate = ThreadGate()

    @scene.app.tool(timeout=0.02)
    def wait(ctx: Context) -> str:
        gate.wait()
        ctx.sync.status("too late")
        return "too late"

    record = await scene.run("wait")
    assert record.text == "Tool 'wait' was stopped: it took longer than 0.02 s"
    assert scene.threads.abandoned == 1
    gate.opened.set()
    await until(lambda: scene.threads.abandoned == 0)


@pytest.mark.usefixtures("impatient")
async def test_a_coroutine_that_ignores_its_cancellation_is_left_behind(scene: Scene, logs: Logs) -> None:
    gate = Gate()

    @scene.app.tool(timeout=0.02)
    async def wait() -> str:
        try:
            await gate.wait()
        except asyncio.CancelledError:
            await gate.opened.wait()
        return "too late"

    record = await scene.run("wait")
    assert record.text == "Tool 'wait' was stopped: it took longer than 0.02 s"
    assert logs.of("tool_goes_on")
    gate.opened.set()
    await until(lambda: not scene.runner._strays)


@pytest.mark.parametrize("reason", ["cancelled", "expired", "superseded", "finished"])
@pytest.mark.parametrize("is_async", [True, False])
async def test_a_run_that_is_no_longer_wanted_leaves_nothing(scene: Scene, is_async: bool, reason: StopReason) -> None:
    gate: Any = Gate() if is_async else ThreadGate()

    async def wait_async() -> str:
        await gate.wait()
        return "unwanted"

    def wait_plainly() -> str:
        gate.wait()
        return "unwanted"

    scene.app.tool(name="wait")(wait_async if is_async else wait_plainly)
    active = await scene.claim("wait")
    before = await scene.record(active)
    running = asyncio.create_task(scene.execute(active))
    await gate.reached.wait()
    active.stop(reason)
    assert (await running).fields == before.fields
    assert not is_async or gate.stopped.is_set()
    gate.opened.set()


async def test_only_the_first_reason_to_stop_counts(scene: Scene) -> None:
    gate = Gate()

    @scene.app.tool
    async def wait(ctx: Context) -> None:
        await gate.wait()

    active = await scene.claim("wait")
    running = asyncio.create_task(scene.execute(active))
    await gate.reached.wait()
    active.stop("superseded")
    active.stop("shutdown")
    assert (await running).fields["worker"] == scene.stage.kit.worker


async def test_a_run_ends_with_the_ttl(scene: Scene) -> None:
    gate = Gate()

    @scene.app.tool(timeout=60)
    async def wait() -> None:
        await gate.wait()

    active = await scene.claim("wait", ttl=50)
    await scene.runner.execute(active)
    assert gate.stopped.is_set()
    assert active.stop_reason == "expired"


async def test_a_context_knows_that_its_run_was_stopped(scene: Scene) -> None:
    gate, seen = ThreadGate(), []

    @scene.app.tool
    def wait(ctx: Context) -> None:
        seen.append(ctx.cancelled)
        gate.wait()
        seen.append(ctx.cancelled)

    active = await scene.claim("wait")
    running = asyncio.create_task(scene.execute(active))
    await gate.reached.wait()
    active.stop("cancelled")
    await running
    gate.opened.set()
    await until(lambda: scene.threads.abandoned == 0)
    assert seen == [False, True]


async def test_a_run_that_was_stopped_before_it_began_does_not_begin(scene: Scene) -> None:
    @scene.app.tool
    def work() -> NoReturn:
        raise AssertionError("it began")

    active = await scene.claim("work")
    active.stop("shutdown")
    assert (await scene.execute(active)).fields["handed_back"] == "1"


# By a shutdown


async def test_a_shutdown_hands_a_coroutine_back(scene: Scene) -> None:
    gate = Gate()

    @scene.app.tool
    async def wait() -> None:
        await gate.wait()

    active = await scene.claim("wait")
    running = asyncio.create_task(scene.execute(active))
    await gate.reached.wait()
    active.stop("shutdown")
    assert (await running).status == "working"
    assert gate.stopped.is_set()
    (again,) = await scene.claim_again()
    assert (again.claim.run, again.claim.attempt) == (2, 1)


async def test_a_shutdown_ends_a_single_attempt(scene: Scene) -> None:
    gate = Gate()

    @scene.app.tool(max_attempts=1)
    async def wait() -> None:
        await gate.wait()

    active = await scene.claim("wait")
    running = asyncio.create_task(scene.execute(active))
    await gate.reached.wait()
    active.stop("shutdown")
    record = await running
    assert (record.status, record.text) == ("failed", "Tool 'wait' was interrupted by a shutdown")
    assert gate.stopped.is_set()


async def test_a_single_attempt_that_did_not_begin_is_handed_back(scene: Scene) -> None:
    @scene.app.tool(max_attempts=1)
    async def work() -> NoReturn:
        raise AssertionError("it began")

    active = await scene.claim("work")
    active.stop("shutdown")
    assert (await scene.execute(active)).fields["handed_back"] == "1"


@pytest.mark.parametrize("replay", [True, False])
async def test_a_single_attempt_that_waits_is_handed_back_if_it_replays(scene: Scene, replay: bool) -> None:
    @scene.app.tool(max_attempts=1, replay=replay)
    async def doze(ctx: Context) -> None:
        await ctx.sleep(3600)

    active = await scene.claim("doze")
    running = asyncio.create_task(scene.execute(active))
    await until(lambda: active.waits.is_waiting)
    active.stop("shutdown")
    record = await running
    assert (record.status, record.fields.get("handed_back")) == (("working", "1") if replay else ("failed", None))


@pytest.mark.parametrize("is_async", [True, False])
async def test_what_a_single_attempt_says_in_its_end_counts(scene: Scene, is_async: bool) -> None:
    gate: Any = Gate() if is_async else ThreadGate()

    async def wait_async() -> str:
        try:
            await gate.wait()
        except asyncio.CancelledError:
            return "half of it"
        return "all of it"

    def wait_plainly(ctx: Context) -> str:
        gate.wait()
        return "half of it" if ctx.cancelled else "all of it"

    scene.app.tool(name="wait", max_attempts=1)(wait_async if is_async else wait_plainly)
    active = await scene.claim("wait")
    running = asyncio.create_task(scene.execute(active))
    await gate.reached.wait()
    active.stop("shutdown")
    if not is_async:
        gate.opened.set()
    record = await running
    assert (record.status, record.text) == ("completed", "half of it")


async def test_a_shutdown_waits_for_a_thread_before_it_hands_its_task_back(scene: Scene) -> None:
    gate = ThreadGate()

    @scene.app.tool
    def wait(ctx: Context) -> str:
        gate.wait()
        return "stopped early" if ctx.cancelled else "done"

    active = await scene.claim("wait")
    running = asyncio.create_task(scene.execute(active))
    await gate.reached.wait()
    active.stop("shutdown")
    assert await scene.claim_again() == []
    gate.opened.set()
    assert (await running).fields["handed_back"] == "1"
    assert scene.threads.abandoned == 0


@pytest.mark.usefixtures("impatient")
async def test_a_shutdown_does_not_wait_for_ever(scene: Scene) -> None:
    gate = ThreadGate()

    @scene.app.tool
    def wait() -> None:
        gate.wait()

    active = await scene.claim("wait")
    running = asyncio.create_task(scene.execute(active))
    await gate.reached.wait()
    active.stop("shutdown")
    assert (await running).fields["handed_back"] == "1"
    gate.opened.set()


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("is_async", [True, False])
async def test_a_shutdown_ends_a_single_attempt_that_goes_on(scene: Scene, is_async: bool) -> None:
    gate: Any = Gate() if is_async else ThreadGate()

    async def wait_async() -> None:
        try:
            await gate.wait()
        except asyncio.CancelledError:
            await gate.opened.wait()

    def wait_plainly() -> None:
        gate.wait()

    scene.app.tool(name="wait", max_attempts=1)(wait_async if is_async else wait_plainly)
    active = await scene.claim("wait")
    running = asyncio.create_task(scene.execute(active))
    await gate.reached.wait()
    active.stop("shutdown")
    record = await running
    assert (record.status, record.text) == ("failed", "Tool 'wait' was interrupted by a shutdown")
    gate.opened.set()


async def test_what_was_done_when_the_shutdown_came_is_kept(scene: Scene) -> None:
    gate = Gate()

    @scene.app.tool
    async def wait() -> str:
        await gate.wait()
        return "done"

    active = await scene.claim("wait")
    running = asyncio.create_task(scene.execute(active))
    await gate.reached.wait()
    gate.opened.set()
    active.stop("shutdown")
    assert (await running).text == "done"
