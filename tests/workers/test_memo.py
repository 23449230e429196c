"""Steps and sleeps: what is done once over all runs of a task."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import pytest
from pydantic import BaseModel

from receiver import Context, ReplayDiverged, ToolError
from tests.workers.scene import Gate, Record, Scene, ThreadGate
from tests.workers.stage import Stage, until
from workers.roster import ActiveRun


@pytest.fixture
def scene(any_stage: Stage) -> Scene:
    return Scene(any_stage)


async def interrupt(scene: Scene, active: ActiveRun, when: Callable[[], Awaitable[object] | object]) -> ActiveRun:
    """Hands a run back once ``when`` holds; returns the next run."""
    running = asyncio.create_task(scene.execute(active))
    await until(when)
    active.stop("shutdown")
    await running
    (later,) = await scene.claim_again()
    return later


async def run_twice(scene: Scene, tool: str, gate: Gate) -> Record:
    """Hands the first run back where it waits at the gate, and lets the second one end."""
    later = await interrupt(scene, await scene.claim(tool), gate.reached.is_set)
    gate.opened.set()
    return await scene.execute(later)


class Page(BaseModel):
    number: int


async def test_a_later_run_does_no_finished_step_again(scene: Scene) -> None:
    done, gate = list[str](), Gate()

    async def fetch(page: int, *, side: str = "front") -> Page:
        done.append(f"fetch {page} {side}")
        return Page(number=page)

    def write(pages: list[Page]) -> list[Page]:
        done.append(f"write {len(pages)} in {threading.current_thread() is threading.main_thread()}")
        return pages

    async def send() -> Any:
        done.append("send")
        await gate.wait()
        return {"sent": True}

    @scene.app.tool
    async def draw(ctx: Context) -> Any:
        pages = [await ctx.step("fetch", fetch, number, side="back") for number in (1, 2)]
        written = await ctx.step("write", write, pages)
        return [*(page.number for page in written), await ctx.step("send", send)]

    record = await run_twice(scene, "draw", gate)
    assert orjson.loads(record.text) == [1, 2, {"sent": True}]
    assert done == ["fetch 1 back", "fetch 2 back", "write 2 in False", "send", "send"]


async def test_the_first_run_gets_what_was_recorded_too(scene: Scene) -> None:
    @scene.app.tool
    async def draw(ctx: Context) -> str:
        untyped = await ctx.step("untyped", lambda: {"pair": (1, 2)})
        awaited = await ctx.step("awaited", lambda: asyncio.sleep(0, "later"))
        return f"{untyped} {awaited}"

    assert (await scene.run("draw")).text == "{'pair': [1, 2]} later"


async def test_a_plain_tool_has_steps_and_sleeps_too(scene: Scene) -> None:
    done, gate = list[int](), ThreadGate()

    def count(number: int) -> int:
        done.append(number)
        return number

    @scene.app.tool
    def draw(ctx: Context) -> str:
        ctx.sync.sleep(0)
        total = sum(ctx.sync.step("count", count, number) for number in (1, 2))
        gate.wait()
        return f"{total} in run {ctx.run}"

    first = await scene.claim("draw")
    running = asyncio.create_task(scene.execute(first))
    await gate.reached.wait()
    await scene.stage.kit.runs.requeue(first.claim.task_id, first.claim.run, "handed_back")
    (later,) = await scene.claim_again()
    gate.opened.set()
    assert (await scene.execute(later)).text == "3 in run 2"
    await running
    assert done == [1, 2]


async def test_a_run_that_hung_does_no_step_that_is_not_its_own_any_more(scene: Scene) -> None:
    done, gate = list[int](), Gate()

    @scene.app.tool
    async def draw(ctx: Context) -> str:
        if ctx.run == 1:
            await gate.wait()
        await ctx.step("count", lambda: done.append(ctx.run))
        return f"run {ctx.run}"

    first = await scene.claim("draw")
    hung = asyncio.create_task(scene.execute(first))
    await until(gate.reached.is_set)
    await scene.stage.kit.runs.requeue(first.claim.task_id, first.claim.run, "handed_back")
    (later,) = await scene.claim_again()
    assert (await scene.execute(later)).text == "run 2"
    gate.opened.set()
    await until(lambda: first.waits.calls == ["the end"])
    first.stop("superseded")
    await hung
    assert done == [2]


async def test_an_exception_is_not_recorded(scene: Scene) -> None:
    failures = iter([ToolError("no paper"), None])

    def fetch() -> str:
        if error := next(failures):
            raise error
        return "a page"

    gate = Gate()

    @scene.app.tool
    async def draw(ctx: Context) -> str:
        try:
            return await ctx.step("fetch", fetch)
        except ToolError:
            await gate.wait()
            raise

    assert (await run_twice(scene, "draw", gate)).text == "a page"


async def test_other_arguments_end_the_task_whatever_the_tool_makes_of_it(scene: Scene) -> None:
    gate, caught = Gate(), list[str]()

    @scene.app.tool
    async def draw(ctx: Context) -> str:
        for number in (1, 2):
            try:
                await ctx.step("fetch", lambda run: run, ctx.run if number == 1 else 0)
            except ReplayDiverged as error:
                caught.append(str(error))
        if ctx.run == 2:
            with pytest.raises(ReplayDiverged):
                await ctx.sleep(3600)
        await gate.wait()
        return "swallowed"

    record = await run_twice(scene, "draw", gate)
    text = "The tool calls its step 'fetch' with other arguments than in an earlier run"
    assert (record.status, record.text) == ("failed", text)
    assert caught == [text, text]  # nor does it get any further


async def test_arguments_are_the_same_in_whatever_order(scene: Scene) -> None:
    gate = Gate()

    @scene.app.tool
    async def draw(ctx: Context) -> str:
        words = ["a", "b", "c"] if ctx.run == 1 else ["c", "b", "a"]
        await ctx.step("fetch", lambda **_: None, **{word: set(words) for word in words})
        await gate.wait()
        return "done"

    assert (await run_twice(scene, "draw", gate)).text == "done"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x" * 99, "What step 'fetch' returned has 101 bytes; 100 are allowed"),
        (object(), "The step 'fetch' returned a value that can't be written as JSON"),
        (7, "What step 'fetch' returned is not what its annotation says"),
    ],
)
async def test_a_value_that_can_not_be_recorded_fails_the_task(any_stage: Stage, value: Any, text: str) -> None:
    scene = Scene(any_stage, max_step_bytes=100)

    async def fetch() -> str:
        return value  # type: ignore[no-any-return]

    def anything() -> Any:
        return value

    @scene.app.tool
    async def draw(ctx: Context) -> str:
        return str(await ctx.step("fetch", fetch if value == 7 else anything))

    active = await scene.claim("draw")
    record = await scene.execute(active)
    assert (record.status, record.text) == ("failed", text)
    assert not await scene.stage.redis.exists(scene.stage.keys.steps(active.claim.task_id))


async def test_arguments_that_are_no_json_are_the_authors_mistake(scene: Scene) -> None:
    @scene.app.tool
    async def draw(ctx: Context) -> str:
        with pytest.raises(TypeError, match="the arguments of step 'fetch' can't be written as JSON"):
            await ctx.step("fetch", print, object())
        return "refused"

    assert (await scene.run("draw")).text == "refused"


async def test_a_step_of_a_run_that_lost_its_task_counts_for_nothing(scene: Scene) -> None:
    gate = Gate()

    async def fetch(gated: bool) -> int:
        if gated:
            await gate.wait()
        return 1 + gated

    @scene.app.tool
    async def draw(ctx: Context) -> int:
        return await ctx.step("fetch", lambda: fetch(ctx.run == 1))

    first = await scene.claim("draw")
    running = asyncio.create_task(scene.execute(first))
    await gate.reached.wait()
    await scene.stage.kit.runs.requeue(first.claim.task_id, first.claim.run, "handed_back")
    (later,) = await scene.claim_again()
    gate.opened.set()
    await until(lambda: first.waits.calls)  # for its end
    assert (await scene.execute(later)).payload["structuredContent"] == {"result": 1}
    first.stop("superseded")
    await running


async def test_a_step_in_a_thread_that_is_cancelled_is_left_behind(scene: Scene) -> None:
    gate = ThreadGate()

    @scene.app.tool(timeout=0.02)
    async def draw(ctx: Context) -> None:
        await ctx.step("wait", gate.wait)

    assert "it took longer" in (await scene.run("draw")).text
    assert scene.threads.abandoned == 1
    gate.opened.set()
    await until(lambda: scene.threads.abandoned == 0)


# Sleeps


async def test_a_sleep_ends(scene: Scene) -> None:
    @scene.app.tool
    async def nap(ctx: Context) -> str:
        await ctx.sleep(0.01)
        return "awake"

    assert (await scene.run("nap")).text == "awake"


async def test_a_later_run_sleeps_what_is_left(scene: Scene) -> None:
    @scene.app.tool
    async def nap(ctx: Context) -> str:
        await ctx.sleep(3600 * ctx.run)
        return "awake"

    first = await scene.claim("nap")
    later = await interrupt(scene, first, lambda: first.waits.is_waiting)
    key, field = scene.stage.keys.steps(first.claim.task_id), "sleep#1:due"
    due = int(await scene.stage.redis.hget(key, field))
    assert 3_590_000 < due - first.claim.claimed_at < 3_610_000
    last = await interrupt(scene, later, lambda: later.waits.is_waiting)
    assert int(await scene.stage.redis.hget(key, field)) == due
    await scene.stage.redis.hset(key, field, due - 3_600_000)  # as if the hour were over
    assert (await scene.execute(last)).text == "awake"


async def test_a_sleep_looks_at_the_clock_of_the_store_when_there_is_news(scene: Scene) -> None:
    @scene.app.tool
    async def nap(ctx: Context) -> str:
        await ctx.sleep(3600)
        return "awake"

    active = await scene.claim("nap")
    running = asyncio.create_task(scene.execute(active))
    await until(lambda: active.waits.is_waiting)
    active.on_news()  # of something else
    key = scene.stage.keys.steps(active.claim.task_id)
    await scene.stage.redis.hincrby(key, "sleep#1:due", -3_600_000)
    active.on_news()
    assert (await running).text == "awake"


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf")])
async def test_what_is_no_time_to_sleep(scene: Scene, seconds: float) -> None:
    @scene.app.tool
    async def nap(ctx: Context) -> str:
        with pytest.raises(ValueError, match="zero or more"):
            await ctx.sleep(seconds)
        return "refused"

    assert (await scene.run("nap")).text == "refused"


async def test_a_thread_that_sleeps_wakes_when_it_is_stopped(scene: Scene) -> None:
    ended, loop = asyncio.Event(), asyncio.get_running_loop()

    @scene.app.tool
    def nap(ctx: Context) -> None:
        try:
            ctx.sync.sleep(3600)
        finally:
            loop.call_soon_threadsafe(ended.set)

    active = await scene.claim("nap")
    running = asyncio.create_task(scene.execute(active))
    await until(lambda: active.waits.is_waiting)
    await scene.stage.cancel(active.claim.task_id)
    active.stop("cancelled")
    await running
    await ended.wait()
