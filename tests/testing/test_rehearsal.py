"""The test kit: one call, played to its end."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvloop
from pydantic import BaseModel

from receiver import Context, Principal, Receiver, ReceiverError, Retry, ToolError
from receiver.testing import Answer, Log, Progress, Question, accept, decline, dismiss, refuse, rehearse, say
from workers.rehearsal import play

DAY = 86_400.0


class Choice(BaseModel):
    template: str
    copies: int = 1


@pytest.fixture
def app() -> Receiver:
    return Receiver("press")


async def test_a_tool_is_played_to_its_end(app: Receiver) -> None:
    @app.tool
    async def render(quarter: str, ctx: Context) -> dict[str, Any]:
        await ctx.log("debug", {"quarter": quarter})
        for page in range(20):  # more than a requestor would be told of at once
            await ctx.progress(page, 20, f"page {page}")
        await ctx.progress(7)  # does not rise
        for status in ("fetching", "drawing"):
            await ctx.status(status)
        chosen = await ctx.elicit("Which template?", Choice)
        await ctx.resource_updated("reports://all")
        pages = await ctx.step("draw", lambda template: [template] * 2, (chosen.content or {})["template"])
        return {"pages": pages, "task": ctx.task_id}

    async with rehearse(app) as stage:
        played = await stage.call("render", {"quarter": "Q3"}, answers=[accept(template="a")])
    assert played.status == "completed"
    assert played.result["structuredContent"] == {"pages": ["a", "a"], "task": played.task_id}
    assert played.logs == [Log("debug", {"quarter": "Q3"})]
    assert played.progress == [Progress(page, 20, f"page {page}") for page in range(20)]
    assert played.statuses == ["fetching", "drawing"]
    assert played.updated == ["reports://all"]
    assert [question.message for question in played.questions] == ["Which template?"]
    assert list(played.questions[0].params["requestedSchema"]["properties"]) == ["template", "copies"]
    assert (played.steps, played.runs) == (["draw"], 1)


async def test_a_plain_function_asks_and_sleeps_too(app: Receiver) -> None:
    @app.tool(task="forbidden")
    def poem(ctx: Context) -> str:
        ctx.sync.sleep(DAY)
        ctx.sync.progress(1)
        written = ctx.sync.sample("A poem", 100)
        return f"{written['content']['text']} {ctx.task_id}"

    async with rehearse(app) as stage:
        played = await stage.call("poem", answers=[say("Roses")])
    assert (played.text, played.progress) == ("Roses None", [Progress(1)])
    assert played.questions[0].method == "sampling/createMessage"


async def test_time_passes_for_sleeps_beside_other_waits(app: Receiver) -> None:
    @app.tool
    async def remind(ctx: Context) -> str:
        asking = asyncio.create_task(ctx.elicit("Well?", Choice))
        for _ in range(3):
            await ctx.sleep(DAY)
        asking.cancel()
        await asyncio.wait({asking})
        return "nobody said anything for three days"

    async with rehearse(app) as stage:
        assert "three days" in (await stage.call("remind", answers=[None])).text


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_any_loop_will_do(app: Receiver, run: Callable[..., None]) -> None:
    @app.tool
    def nap(ctx: Context) -> str:
        ctx.sync.sleep(DAY)
        return "awake"

    async def rehearse_it() -> None:
        async with rehearse(app) as stage:
            assert (await stage.prove_replayable("nap")).text == "awake"

    run(rehearse_it())


async def test_retries_are_run_at_once(app: Receiver) -> None:
    @app.tool
    async def fetch(ctx: Context) -> int:
        if ctx.attempt < 3:
            raise Retry(after=DAY)
        return ctx.attempt

    async with rehearse(app) as stage:
        played = await stage.call("fetch")
    assert (played.result["structuredContent"], played.runs) == ({"result": 3}, 3)


@pytest.mark.parametrize("plain", [False, True])
async def test_a_parked_tool_goes_on_in_other_runs(app: Receiver, plain: bool) -> None:
    @app.tool(replay=True)
    async def order(ctx: Context) -> int:
        await ctx.sleep(DAY)
        await ctx.elicit("Sure?", Choice)
        return ctx.run

    async with rehearse(app) as stage:
        played = await stage.call("order", answers=[decline()], plain=plain, parked=True)
    assert played.result["structuredContent"] == {"result": 1 if plain else 3}  # a plain call is never parked
    assert played.runs == (1 if plain else 3)


async def test_what_a_client_may_answer(app: Receiver) -> None:
    @app.tool
    async def ask(ctx: Context) -> list[str]:
        actions = [(await ctx.elicit("Which?", Choice)).action for _ in range(2)]
        link = await ctx.elicit_url("Pay", "https://pay.example/1", as_task=True)
        try:
            await ctx.sample("A poem", 100)
        except ToolError as error:
            return [*actions, link.action, str(error)]
        return []

    answers: list[Answer] = [dismiss(), decline(), accept(), refuse("no model")]
    async with rehearse(app) as stage:
        played = await stage.call("ask", answers=answers)
    assert played.result["structuredContent"] == {
        "result": ["cancel", "decline", "accept", "The client refused the request: no model"]
    }


async def test_answers_may_be_a_function(app: Receiver) -> None:
    @app.tool
    async def ask(ctx: Context) -> list[Any]:
        asked = [ctx.elicit(word, Choice) for word in ("two", "one")]
        return [it.content for it in await asyncio.gather(*asked)]

    def answer(question: Question) -> dict[str, Any]:
        return accept({"template": question.message})

    async with rehearse(app) as stage:
        played = await stage.call("ask", answers=answer)
    assert [it["template"] for it in played.result["structuredContent"]["result"]] == ["two", "one"]


@pytest.mark.parametrize(
    ("answers", "text"),
    [
        ([], r"(?s)question 1 has no answer; 0 were given\nelicitation/create: .*Which\?.*template"),
        ([accept(copies=2)], r"(?s)answer 1 does not fit: template: required\n.*Which\?"),
        ([{"action": "nod"}], "answer 1 does not fit: action: must be one of accept"),
        ([decline(), decline()], "tool 'ask' asked 1 questions; 1 more answers were given"),
        ([None], "tool 'ask' waits, and nobody answers: .*Which"),
    ],
)
async def test_answers_that_are_no_answers(
    app: Receiver, answers: list[Any], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play, "PATIENCE_SECONDS", 0.05)

    @app.tool
    async def ask(ctx: Context) -> str:
        return (await ctx.elicit("Which?", Choice)).action

    async with rehearse(app) as stage:
        with pytest.raises(AssertionError, match=text):
            await stage.call("ask", answers=answers)


async def test_a_parked_question_that_nobody_answers(app: Receiver) -> None:
    @app.tool(replay=True)
    async def ask(ctx: Context) -> str:
        return (await ctx.elicit("Which?", Choice)).action

    async with rehearse(app) as stage:
        with pytest.raises(AssertionError, match=r"tool 'ask' waits for answers that nobody gives: .*Which"):
            await stage.call("ask", answers=[None], parked=True)


async def test_a_client_that_can_not_be_asked(app: Receiver) -> None:
    @app.tool
    async def ask(ctx: Context) -> None:
        await ctx.elicit("Which?", Choice)

    async with rehearse(app, capabilities={"sampling": {}}) as stage:
        played = await stage.call("ask")
    assert (played.status, played.text) == (
        "failed",
        "The client does not support elicitation.form, which this tool needs",
    )


async def test_whoever_calls_and_what_the_lifespan_yields(app: Receiver) -> None:
    @asynccontextmanager
    async def lifespan(_: Receiver) -> AsyncIterator[str]:
        yield "a database"

    app.lifespan = lifespan

    @app.tool
    async def tell(ctx: Context) -> str:
        return f"{ctx.principal.subject} has {ctx.state}"

    async with rehearse(app, principal=Principal("ada")) as stage:
        assert (await stage.call("tell")).text == "ada has a database"


async def test_what_a_tool_raised_is_there(app: Receiver) -> None:
    @app.tool
    async def fail() -> None:
        raise ZeroDivisionError("by zero")

    @app.tool
    async def refuse_all() -> None:
        raise ReceiverError("not today")

    async with rehearse(app) as stage:
        failed, refused = await stage.call("fail"), await stage.call("refuse_all")
    assert failed.result["isError"]
    assert isinstance(failed.exception, ZeroDivisionError)
    assert refused.error is not None
    assert refused.error["message"] == "not today"
    with pytest.raises(AssertionError, match=r"tool 'refuse_all' ended in an error: .*not today"):
        _ = refused.result


@pytest.mark.parametrize("timeouts", [False, True])
async def test_timeouts_count_where_they_are_wanted(app: Receiver, timeouts: bool) -> None:
    @app.tool(timeout=0.01)
    async def draw() -> str:
        await asyncio.sleep(0.1)
        return "drawn"

    async with rehearse(app, timeouts=timeouts) as stage:
        played = await stage.call("draw")
    assert played.status == ("failed" if timeouts else "completed")


async def test_a_task_expires(app: Receiver) -> None:
    @app.tool
    async def nap(ctx: Context) -> None:
        await ctx.sleep(2 * DAY)

    async with rehearse(app, ttl="1d") as stage:
        with pytest.raises(AssertionError, match="tool 'nap' waits beyond its ttl, 86400 s"):
            await stage.call("nap")


async def test_resources_and_prompts(app: Receiver) -> None:
    @app.resource("notes://{name}")
    def note(name: str) -> str:
        return f"about {name}"

    @app.prompt
    async def greet(name: str, ctx: Context) -> str:
        await ctx.progress(1)
        return f"Greet {name}"

    async with rehearse(app) as stage:
        read, got = await stage.read("notes://ada"), await stage.prompt("greet", {"name": "bob"})
        for asking in (stage.read("other://ada"), stage.prompt("part"), stage.call("note")):
            with pytest.raises(
                LookupError, match=r"there is no (resource 'other|prompt 'part'; there are: greet|tool 'note')"
            ):
                await asking
    assert read.result["contents"] == [{"uri": "notes://ada", "text": "about ada"}]
    assert got.result["messages"][0]["content"]["text"] == "Greet bob"
    assert got.progress == [Progress(1)]


async def test_arguments_that_do_not_fit_are_refused_as_by_a_server(app: Receiver) -> None:
    @app.tool
    async def draw(pages: int) -> int:
        return pages

    async with rehearse(app) as stage:
        with pytest.raises(ReceiverError, match="pages"):
            await stage.call("draw", {"pages": "many"})


async def test_a_missing_fakeredis_is_said_at_once(app: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lupa", None)
    with pytest.raises(ImportError, match=r"install mcp-task-receiver\[testing\]"):
        async with rehearse(app):
            pass


def test_the_kit_is_imported_without_fakeredis() -> None:
    code = "import sys, receiver.testing; sys.exit('fakeredis' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_what_is_isolated_runs_in_this_process(app: Receiver) -> None:
    said: list[str] = []

    @app.tool(isolate=True)
    def say_here(ctx: Context) -> str:
        said.append("here")
        return "done"

    async with rehearse(app) as stage:
        assert (await stage.call("say_here")).text == "done"
    assert said == ["here"]
