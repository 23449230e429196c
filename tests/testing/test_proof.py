"""The test kit: what it proves replayable, and what it finds that is not."""

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from receiver import Context, Receiver, ToolError
from receiver.testing import accept, rehearse, say


class Choice(BaseModel):
    template: str


@pytest.fixture
def app() -> Receiver:
    return Receiver("press")


class Effects:
    """What steps did: of the ``n``-th time that a call is played, from 0."""

    def __init__(self) -> None:
        self.played: list[Counter[str]] = []

    def begin(self) -> None:
        self.played.append(Counter())

    def do(self, what: str) -> str:
        self.played[-1][what] += 1
        return what


async def test_a_tool_is_killed_at_every_point(app: Receiver) -> None:
    effects, runs = Effects(), list[int]()

    @app.tool(replay=True)
    async def render(ctx: Context) -> list[str]:
        runs.append(ctx.run)
        first = await ctx.step("fetch", effects.do, "first")
        await ctx.sleep(3600)
        chosen = await ctx.elicit("Which?", Choice)
        second = await ctx.step("fetch", effects.do, "second")
        written = await ctx.sample("A poem", 100)
        return [first, second, (chosen.content or {})["template"], written["content"]["text"]]

    async with rehearse(app) as stage:
        answers = [accept(template="a"), say("Roses")]
        model = await stage.prove_replayable("render", answers=answers, prepare=effects.begin)
    assert model.result["structuredContent"] == {"result": ["first", "second", "a", "Roses"]}
    assert [str(point) for point in model.trace.points[:4]] == [
        "before step 'fetch'", "in step 'fetch'", "behind step 'fetch'", "before sleep 1"
    ]  # fmt: skip
    assert len(model.trace.points) == 5 * 3 + 1
    assert len(effects.played) == 1 + 16 + 1
    assert sum(run == 1 for run in runs) == 18
    twice = [name for played in effects.played for name, count in played.items() if count == 2]
    assert (twice, {count for played in effects.played for count in played.values()}) == (["first", "second"], {1, 2})


async def test_every_nth_point(app: Receiver) -> None:
    runs = list[int]()

    @app.tool
    async def render(ctx: Context) -> None:
        runs.append(ctx.run)
        await ctx.step("fetch", lambda: None)
        await ctx.step("draw", lambda: None)

    async with rehearse(app) as stage:
        await stage.prove_replayable("render", every=3)
    assert runs == [1] + [1, 2] * 3  # the first, the fourth, and the end


@pytest.mark.parametrize("options", [{}, {"max_attempts": 1}, {"task": "forbidden"}, {"replay": True}])
async def test_a_plain_function_is_proved_too(app: Receiver, options: dict[str, Any]) -> None:
    effects = Effects()

    @app.tool(**options)
    def render(ctx: Context) -> str:
        page = ctx.sync.step("fetch", effects.do, "page")
        ctx.sync.sleep(3600)
        return f"{page} {ctx.sync.elicit('Which?', Choice).content}"

    async with rehearse(app) as stage:
        await stage.prove_replayable("render", answers=[accept(template="a")], prepare=effects.begin)
    assert len(effects.played) == 1 + 10 + ("replay" in options)


async def test_steps_may_have_other_results_each_time(app: Receiver) -> None:
    numbers = itertools.count()

    @app.tool
    async def poll(ctx: Context) -> int:
        while (number := await ctx.step("poll", lambda: next(numbers))) % 5:
            await ctx.sleep(60)
        return number

    async with rehearse(app) as stage:
        await stage.prove_replayable("poll")


async def test_steps_beside_each_other(app: Receiver) -> None:
    @app.tool
    async def render(ctx: Context) -> list[str]:
        async with asyncio.TaskGroup() as group:
            drawing = [group.create_task(ctx.step(f"draw {page}", str.upper, page)) for page in "abc"]
        return [page.result() for page in drawing]

    async with rehearse(app) as stage:
        await stage.prove_replayable("render")


async def test_a_tool_that_fails_in_the_same_way_is_replayable(app: Receiver) -> None:
    @app.tool
    async def render(ctx: Context) -> None:
        await ctx.step("fetch", lambda: None)
        raise ToolError("no paper")

    async with rehearse(app) as stage:
        assert (await stage.prove_replayable("render")).text == "no paper"


# What is found

_number = itertools.count()


async def other_arguments(ctx: Context) -> None:
    await ctx.step("fetch", lambda number: None, next(_number))
    await ctx.step("draw", lambda: None)


async def other_order(ctx: Context) -> None:
    for word in ("a", "b")[:: -1 if next(_number) % 2 else 1]:
        await ctx.step("fetch", lambda word: word, word)


async def other_steps(ctx: Context) -> None:
    await ctx.step(f"fetch {next(_number)}", lambda: None)


async def other_questions(ctx: Context) -> None:
    await ctx.elicit(f"Question {next(_number)}", Choice)


async def other_outcome(ctx: Context) -> int:
    await ctx.step("fetch", lambda: None)
    return next(_number)


async def knows_its_run(ctx: Context) -> int:
    await ctx.step("fetch", lambda: None)
    return ctx.run


async def forgets_a_step(ctx: Context) -> None:
    await ctx.step("count", lambda: next(_number))
    if ctx.run == 1:
        await ctx.step("fetch", lambda: None)


async def swallows(ctx: Context) -> str:
    try:
        await ctx.step("fetch", lambda: None)
    except BaseException:
        return "swallowed"
    return "fetched"


async def goes_on(ctx: Context) -> None:
    try:
        await ctx.sleep(60)
    except asyncio.CancelledError:
        await asyncio.sleep(0.3)


def swallows_in_a_thread(ctx: Context) -> str:
    try:
        ctx.sync.step("fetch", lambda: None)
    except Exception:
        return "swallowed"
    return "fetched"


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        (other_arguments, "killed behind step 'fetch', .*; run 2 diverged: .* step 'fetch' with other arguments"),
        (other_order, "killed behind step 'fetch', .*; run 2 diverged: .* step 'fetch' with other arguments"),
        (other_steps, "killed before step 'fetch 0', in its first run; in fact it was not: this time"),
        (other_questions, "killed in elicitation 1, .*; run 2 diverged: .* asked something else"),
        (other_outcome, "killed before step 'fetch', .*; undisturbed it has another outcome, .*'result': 0"),
        (knows_its_run, "killed before .*; undisturbed it has another outcome"),
        (forgets_a_step, "killed (in|behind) step 'fetch', .*; run 2 did not come to what run 1 did: step 'fetch'"),
        (swallows, "killed before .*; then it was cancelled, and took no notice: it returned"),
        (swallows_in_a_thread, "killed before .*; then it was cancelled, and took no notice: it returned"),
        (goes_on, "killed before .*; then it was cancelled, and took no notice: it went on"),
    ],
)
async def test_a_tool_that_is_not_replayable(
    app: Receiver, tool: Callable[..., Any], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.rehearsal.run.STOP_SECONDS", 0.2)
    monkeypatch.setitem(globals(), "_number", itertools.count())
    app.tool(tool)
    answers = [accept(template="a")] if tool is other_questions else []
    async with rehearse(app) as stage:
        with pytest.raises(AssertionError, match=f"tool '{tool.__name__}' can't be replayed.  It was {text}"):
            await stage.prove_replayable(tool.__name__, answers=answers)


async def test_an_outcome_that_only_a_replay_shows(app: Receiver) -> None:
    @app.tool
    async def render(ctx: Context) -> list[int]:
        return [await ctx.step("fetch", lambda: next(numbers)), next(numbers)]

    numbers = itertools.count()
    async with rehearse(app) as stage:
        with pytest.raises(AssertionError, match=r"killed behind its last call, .*; run 2 had another outcome"):
            await stage.prove_replayable("render")


async def test_what_is_done_beside_steps_is_not_found(app: Receiver) -> None:
    sent = list[str]()

    @app.tool
    async def render(ctx: Context) -> None:
        await ctx.step("fetch", lambda: None)
        sent.append("a letter, once a run")

    async with rehearse(app) as stage:
        await stage.prove_replayable("render")
    assert len(sent) > 5
