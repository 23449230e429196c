import asyncio
import math
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

import orjson
import pytest

from receiver.principal import Principal
from receiver.protocol.errors import Refused, ToolError
from receiver.protocol.handshake import RELATED_TASK
from receiver.protocol.loglevel import LogLevel, rank_of
from receiver.protocol.outcome import DIAGNOSIS_LENGTH
from receiver.store.client import Client, connect
from receiver.store.inputs import InputStore
from receiver.store.keys import Keys
from receiver.store.runs import Notice
from receiver.store.scripts import Argument
from receiver.store.steps import StepStore
from tests.workers.claims import ID, new_run
from tests.workers.stage import Logs
from workers.context import RunContext
from workers.memo import Memo
from workers.progress import MOST_WAITING, Progress
from workers.questions import Questions
from workers.reporter import Reporter
from workers.threads import Threads

ADA = Principal("ada")
OF_TASK = {RELATED_TASK: {"taskId": ID}}


class Written(list[dict[str, Argument]]):
    """A reporter's store; each report of these tests is closed before the next, so that nothing is merged."""

    def __init__(self) -> None:
        self.notices: list[Notice] = []

    async def write(self, fields: Mapping[str, Argument], notices: Sequence[Notice]) -> None:
        self.notices += notices
        if fields:
            self.append(dict(fields))


class Desk:
    """A context, and what is written of its run."""

    def __init__(self, **fields: Any) -> None:
        self.run = new_run(principal=orjson.dumps(ADA.to_json()).decode(), **fields)
        self.written = Written()
        self.reporter = Reporter(self.written.write)
        claim = self.run.claim
        progress = Progress(claim, claim.task_id if claim.kind == "task" else None, self.reporter)
        client = Client(connect("unix:///nowhere"), Keys())
        questions = Questions(InputStore(client), self.run)
        memo = Memo(StepStore(client), self.run, Threads(lambda: None), limit=1)
        self.announced: list[str] = []
        self.refusal: Refused | None = None
        self.context = RunContext(self.run, {"pool": 1}, self.reporter, progress, questions, memo, self._announce)

    async def _announce(self, uri: str) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.announced.append(uri)

    async def close(self) -> dict[str, Argument]:
        """All that was written, each field's last value."""
        await self.reporter.close()
        return {name: value for fields in self.written for name, value in fields.items()}

    async def said(self) -> list[dict[str, Any]]:
        """All messages for the requestor."""
        await self.reporter.close()
        return [orjson.loads(notice.body) for notice in self.written.notices]


async def test_a_context_knows_its_run() -> None:
    context = Desk(attempt=2).context
    assert (context.task_id, context.run, context.attempt) == (ID, 1, 2)
    assert context.principal == ADA
    assert context.state == {"pool": 1}


async def test_a_plain_call_is_no_task() -> None:
    assert Desk(kind="call").context.task_id is None


async def test_cancelled_says_that_the_run_was_stopped() -> None:
    desk = Desk()
    assert not desk.context.cancelled
    desk.run.stop("cancelled")
    assert desk.context.cancelled


async def test_progress_is_written_with_its_total_and_message() -> None:
    desk = Desk()
    await desk.context.progress(1, total=3, message="page\none")
    assert await desk.close() == {"progress": "1", "progress_total": "3", "progress_message": "page one"}


async def test_progress_never_goes_back() -> None:  # T-62
    desk = Desk()
    for done in (2, 1, 2, 3.5, 3):
        await desk.context.progress(done, message=str(done))
    assert await desk.close() == {"progress": "3.5", "progress_message": "3.5"}


async def test_progress_goes_on_from_an_earlier_run() -> None:  # T-62
    desk = Desk(progress="50")
    for done in (1, 50):
        await desk.context.progress(done)
    assert desk.written == []
    await desk.context.progress(51)
    assert await desk.close() == {"progress": "51"}


@pytest.mark.parametrize(
    ("done", "written"),
    [
        (0, "0"),
        (1_234_567, "1234567"),
        (1_234_567.25, "1234567.25"),
        (2**60 + 1, "1152921504606846977"),
        (0.1, "0.1"),
        (-1.5, "-1.5"),
        (True, "1"),
    ],
)
async def test_progress_is_written_exactly(done: float, written: str) -> None:
    desk = Desk()
    await desk.context.progress(done)
    assert await desk.close() == {"progress": written}


async def test_progress_is_said_with_the_token_of_the_request() -> None:  # T-60, T-53
    desk = Desk(progress_token='"a token"')
    await desk.context.progress(1, total=3, message="page one")
    await desk.context.progress(1)
    params = {"progressToken": "a token", "progress": 1, "total": 3, "message": "page one", "_meta": OF_TASK}
    assert await desk.said() == [{"jsonrpc": "2.0", "method": "notifications/progress", "params": params}]


async def test_a_plain_call_s_progress_names_no_task() -> None:
    desk = Desk(kind="call", progress_token="0")
    await desk.context.progress(1)
    (message,) = await desk.said()
    assert message["params"] == {"progressToken": 0, "progress": 1}


async def test_without_a_token_no_progress_is_said() -> None:
    desk = Desk()
    await desk.context.progress(1)
    assert await desk.said() == []


async def test_progress_that_comes_too_fast_is_left_out_and_the_last_is_said() -> None:  # L-08
    desk = Desk(progress_token="7")
    for done in range(10_000):
        await desk.context.progress(done)
    told = [message["params"]["progress"] for message in await desk.said()]
    assert len(told) <= MOST_WAITING
    assert told[-1] == 9999


async def test_a_message_that_is_no_unicode_is_said_as_well_as_it_can_be() -> None:
    desk = Desk(progress_token="7")
    await desk.context.progress(1, message="caf\udce9")
    assert [message["params"]["message"] for message in await desk.said()] == ["caf?"]
    assert await desk.close() == {"progress": "1", "progress_message": "caf?"}


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
async def test_progress_is_finite(number: float) -> None:
    desk = Desk()
    with pytest.raises(ValueError, match="finite"):
        await desk.context.progress(number)
    with pytest.raises(ValueError, match="finite"):
        await desk.context.progress(1, total=number)
    assert await desk.close() == {}


async def test_a_status_is_one_line() -> None:
    desk = Desk()
    await desk.context.status("half\nway " + "x" * 1000)
    (fields,) = [await desk.close()]
    assert str(fields["status_message"]).startswith("half way x")
    assert len(str(fields["status_message"])) == DIAGNOSIS_LENGTH


@pytest.mark.parametrize(
    ("level", "written"), [("debug", "debug"), ("notice", "info"), ("warning", "warning"), ("emergency", "critical")]
)
async def test_a_log_message_goes_to_the_log(level: LogLevel, written: str, logs: Logs) -> None:
    await Desk().context.log(level, {"pages": [1]})
    assert logs.of("tool_log") == [{"event": "tool_log", "log_level": written, "task_id": ID, "data": {"pages": [1]}}]


async def test_a_log_message_is_said_with_its_rank() -> None:  # L-09, T-53
    desk = Desk()
    await desk.context.log("warning", {"pages": [1]})
    params = {"level": "warning", "logger": "draw", "data": {"pages": [1]}, "_meta": OF_TASK}
    assert await desk.said() == [{"jsonrpc": "2.0", "method": "notifications/message", "params": params}]
    assert [notice.rank for notice in desk.written.notices] == [rank_of("warning")]


async def test_a_level_that_there_is_not_is_refused() -> None:
    level: Any = "loud"
    with pytest.raises(ValueError, match="loud"):
        await Desk().context.log(level, "boom")


@pytest.mark.parametrize(
    ("capabilities", "missing"),
    [
        ({}, "elicitation.form"),
        ({"elicitation": {"url": {}}}, "elicitation.form"),
        ({"elicitation": {}}, "elicitation.url"),
        ({"elicitation": {"form": {}, "url": {}}}, "sampling"),
    ],
)
async def test_only_what_the_client_declared_is_asked(capabilities: Any, missing: str) -> None:  # L-02, E-01
    context = Desk(capabilities=orjson.dumps(capabilities).decode()).context
    asking: dict[str, Callable[[], Coroutine[Any, Any, object]]] = {
        "elicitation.form": lambda: context.elicit("Which?", {"type": "object", "properties": {}}),
        "elicitation.url": lambda: context.elicit_url("Here?", "https://a.example/"),
        "sampling": lambda: context.sample("Write", 10),
    }
    with pytest.raises(ToolError, match=f"^The client does not support {missing}, which this tool needs$"):
        await asking[missing]()


async def test_an_update_of_a_resource_is_announced_at_once() -> None:
    desk = Desk()
    await desk.context.resource_updated("test://a")
    await asyncio.to_thread(desk.context.sync.resource_updated, "test://b")
    assert desk.announced == ["test://a", "test://b"]


async def test_a_full_store_costs_the_announcement_and_not_the_run(logs: Logs) -> None:
    desk = Desk()
    desk.refusal = Refused("storage_full", "full")
    await desk.context.resource_updated("test://a")
    assert [line["uri"] for line in logs.of("update_not_announced")] == ["test://a"]


async def test_a_thread_uses_sync() -> None:
    desk = Desk()

    def work() -> None:
        desk.context.sync.progress(1, total=2)
        desk.context.sync.status("working")
        desk.context.sync.log("info", "a line")

    await asyncio.to_thread(work)
    assert await desk.close() == {"progress": "1", "progress_total": "2", "status_message": "working"}


async def test_an_error_reaches_the_thread() -> None:
    desk = Desk()
    with pytest.raises(ValueError, match="finite"):
        await asyncio.to_thread(desk.context.sync.progress, math.nan)


async def test_sync_in_an_async_tool_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"ctx\.sync is for plain functions"):
        Desk().context.sync.progress(1)


async def test_a_thread_that_was_left_behind_may_go_on_reporting() -> None:
    desk = Desk()
    await desk.close()
    await asyncio.to_thread(desk.context.sync.progress, 1)
    assert desk.written == []
