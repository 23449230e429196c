"""Every way in which a run can end by itself."""

import asyncio
from typing import Any, NoReturn

import pytest
from pydantic import BaseModel

import workers.runner
from receiver import Context, ReceiverError, Retry, ToolError
from receiver.protocol.errors import InvalidArguments
from receiver.store.record import SCHEMA
from tests.workers.scene import Scene
from tests.workers.stage import Logs, Stage
from workers.runner import UNKNOWN_TOOL_PAUSE

INTERNAL_ERROR = -32603
INVALID_PARAMS = -32602
SECRET = "the password is swordfish"


@pytest.fixture
def scene(any_stage: Stage) -> Scene:
    return Scene(any_stage)


# By itself, well


class Report(BaseModel):
    pages: int


async def test_a_value_is_the_result(scene: Scene) -> None:
    @scene.app.tool
    async def write(pages: int) -> Report:
        return Report(pages=pages)

    record = await scene.run("write", pages=7)
    assert (record.status, record.outcome) == ("completed", "result")
    assert record.payload["structuredContent"] == {"pages": 7}
    assert record.message is None


async def test_a_plain_function_runs_in_a_thread(scene: Scene) -> None:
    @scene.app.tool
    def write(pages: int, ctx: Context) -> str:
        return f"{ctx.state}, {pages} pages"

    assert (await scene.run("write", pages=7)).text == "the state, 7 pages"


async def test_what_was_reported_last_is_written_before_the_end(scene: Scene) -> None:
    @scene.app.tool
    async def write(ctx: Context) -> str:
        for page in range(100):
            await ctx.progress(page, total=100)
        return "done"

    record = await scene.run("write")
    assert (record.fields["progress"], record.fields["progress_total"]) == ("99", "100")


# By itself, badly


async def test_a_tool_error_is_shown(scene: Scene, logs: Logs) -> None:
    @scene.app.tool
    async def write() -> str:
        raise ToolError("no paper\nin tray 2")

    record = await scene.run("write")
    assert (record.status, record.outcome) == ("failed", "result")
    assert record.payload == {"content": [{"type": "text", "text": "no paper\nin tray 2"}], "isError": True}
    assert record.message == "no paper in tray 2"
    assert not logs.of("tool_refused")


async def test_the_cause_of_a_tool_error_goes_to_the_log(scene: Scene, logs: Logs) -> None:
    @scene.app.tool
    async def write() -> str:
        try:
            raise OSError(SECRET)
        except OSError as error:
            raise ToolError("no paper") from error

    record = await scene.run("write")
    assert record.text == "no paper"
    (line,) = logs.of("tool_refused")
    assert str(line["exc_info"]) == SECRET


@pytest.mark.parametrize("is_async", [True, False])
async def test_an_exception_is_answered_safely(scene: Scene, logs: Logs, is_async: bool) -> None:
    def fail() -> NoReturn:
        raise ValueError(SECRET)

    async def fail_later() -> NoReturn:
        raise ValueError(SECRET)

    scene.app.tool(name="fail")(fail_later if is_async else fail)
    record = await scene.run("fail")
    assert (record.status, record.outcome, record.payload["isError"]) == ("failed", "result", True)
    assert record.text == "Tool 'fail' failed: ValueError; the server's log has the details"
    assert SECRET not in str(record.fields)
    (line,) = logs.of("tool_failed")
    assert str(line["exc_info"]) == SECRET
    assert line["exc_info"].__traceback__.tb_next is not None


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, asyncio.CancelledError, StopIteration, GeneratorExit])
@pytest.mark.parametrize("is_async", [True, False])
async def test_no_exception_gets_any_further(scene: Scene, is_async: bool, error: type[BaseException]) -> None:
    def fail() -> NoReturn:
        raise error

    async def fail_later() -> NoReturn:
        raise error

    scene.app.tool(name="fail")(fail_later if is_async else fail)
    record = await scene.run("fail")
    expected = "RuntimeError" if is_async and error is StopIteration else error.__name__
    assert record.text == f"Tool 'fail' failed: {expected}; the server's log has the details"


async def test_a_tool_that_cancels_itself_has_failed(scene: Scene) -> None:
    @scene.app.tool
    async def give_up() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    assert "CancelledError" in (await scene.run("give_up")).text


async def test_a_json_rpc_error_is_kept_exactly(scene: Scene) -> None:  # T-83
    @scene.app.tool
    async def fail() -> NoReturn:
        raise ReceiverError("Quota\nused up", code=4711, data={"left": [0, None]})

    record = await scene.run("fail")
    assert (record.status, record.outcome) == ("failed", "error")
    assert record.payload == {"code": 4711, "message": "Quota\nused up", "data": {"left": [0, None]}}
    assert record.message == "Quota used up"


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ReceiverError("no", code=1, data={object()}), 1, "no"),
        (ReceiverError("no \udcff", code=1), 1, "no ?"),
        (ReceiverError("no", code=2**80), INTERNAL_ERROR, "no"),
    ],
)
async def test_a_json_rpc_error_loses_what_json_can_t_express(
    scene: Scene, error: ReceiverError, code: int, message: str
) -> None:
    @scene.app.tool
    async def fail() -> NoReturn:
        raise error

    assert (await scene.run("fail")).payload == {"code": code, "message": message}


async def test_invalid_arguments_of_the_tool_s_own_are_an_error_too(scene: Scene) -> None:
    @scene.app.tool
    async def fail() -> NoReturn:
        raise InvalidArguments("pages: too many")

    record = await scene.run("fail", kind="call")
    assert record.payload == {"code": INVALID_PARAMS, "message": "pages: too many"}


async def test_a_text_that_is_no_unicode_is_shown(scene: Scene) -> None:
    @scene.app.tool
    async def fail() -> NoReturn:
        raise ToolError("no file caf\udce9")

    assert (await scene.run("fail")).text == "no file caf?"


async def test_a_result_that_is_too_big_is_refused(any_stage: Stage) -> None:
    scene = Scene(any_stage, max_result_bytes=1000)

    @scene.app.tool
    async def write(size: int) -> str:
        return "x" * size

    assert (await scene.run("write", size=900)).status == "completed"
    record = await scene.run("write", size=1000)
    assert record.status == "failed"
    assert record.text == "The result of tool 'write' has 1055 bytes; 1000 are allowed"


@pytest.mark.parametrize("error", [ToolError("x" * 1000), ReceiverError("no", data="x" * 1000)])
async def test_an_error_that_is_too_big_is_refused(any_stage: Stage, error: Exception) -> None:
    scene = Scene(any_stage, max_result_bytes=1000)

    @scene.app.tool
    async def fail() -> NoReturn:
        raise error

    assert "1000 are allowed" in (await scene.run("fail")).text


async def test_a_result_that_is_no_json_is_refused(scene: Scene) -> None:
    @scene.app.tool
    async def write() -> object:
        return object()

    record = await scene.run("write")
    assert (record.status, record.text) == ("failed", "The tool returned a value that can't be written as JSON")


@pytest.mark.parametrize("kind", ["task", "call"])
async def test_arguments_that_no_longer_fit_are_refused(scene: Scene, kind: Any) -> None:
    @scene.app.tool
    async def write(pages: int) -> str:
        return f"{pages} pages"

    record = await scene.run("write", kind=kind, sheets=7)
    text = record.text if kind == "call" else record.payload["message"]
    assert text == "Invalid arguments: pages: required; sheets: unknown field"
    assert record.outcome == ("result" if kind == "call" else "error")


# Again later


async def test_a_retry_is_due_later_and_counts(scene: Scene) -> None:
    @scene.app.tool
    async def fetch(ctx: Context) -> str:
        if ctx.attempt == 1:
            raise Retry(after=60)
        return f"run {ctx.run}, attempt {ctx.attempt}"

    first = await scene.claim("fetch")
    assert (await scene.execute(first)).status == "working"
    assert 60_000 <= await scene.pause_of(first) < 70_000
    assert await scene.claim_again() == []
    await scene.stage.redis.zadd(scene.stage.keys.later(), {first.claim.task_id: 0})
    (second,) = await scene.claim_again()
    assert (await scene.execute(second)).text == "run 2, attempt 2"


async def test_a_retry_may_be_due_at_once(scene: Scene) -> None:
    @scene.app.tool
    def fetch() -> str:
        raise Retry(after=0)

    await scene.run("fetch")
    (second,) = await scene.claim_again()
    assert (second.claim.run, second.claim.attempt) == (2, 2)


async def test_a_retry_that_does_not_say_when_is_due_after_a_random_pause(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.runner, "pause_after", lambda attempt: 60.0 * attempt)

    @scene.app.tool
    async def fetch() -> str:
        raise Retry

    first = await scene.claim("fetch")
    await scene.execute(first)
    assert 60_000 <= await scene.pause_of(first) < 70_000


async def test_retries_end_with_the_attempts(scene: Scene) -> None:
    @scene.app.tool(max_attempts=2)
    async def fetch() -> str:
        raise Retry(after=0)

    await scene.run("fetch")
    (second,) = await scene.claim_again()
    record = await scene.execute(second)
    assert (record.status, record.text) == ("failed", "Tool 'fetch' gave up after 2 attempts")


async def test_a_plain_call_is_not_retried(scene: Scene) -> None:
    @scene.app.tool
    async def fetch() -> str:
        raise Retry

    assert (await scene.run("fetch", kind="call")).text == "Tool 'fetch' gave up after 1 attempt"


@pytest.mark.parametrize(("tool", "schema"), [("unknown", SCHEMA), ("known", SCHEMA + 1)])
async def test_what_can_t_be_run_here_is_handed_back(scene: Scene, tool: str, schema: int) -> None:
    @scene.app.tool
    async def known() -> str:
        return "done"

    active = await scene.claim(tool, record={"schema": schema})
    assert (await scene.execute(active)).status == "working"
    assert UNKNOWN_TOOL_PAUSE <= await scene.pause_of(active) < UNKNOWN_TOOL_PAUSE + 1000
    await scene.stage.redis.zadd(scene.stage.keys.later(), {active.claim.task_id: 0})
    (again,) = await scene.claim_again()
    assert (again.claim.run, again.claim.attempt) == (2, 1)
