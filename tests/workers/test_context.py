import asyncio
import math
from collections.abc import Mapping
from typing import Any

import pytest

from receiver.context import LogLevel
from receiver.principal import Principal
from receiver.protocol.outcome import DIAGNOSIS_LENGTH
from receiver.store.scripts import Argument
from tests.workers.claims import ID, new_run
from tests.workers.stage import Logs
from workers.context import RunContext
from workers.reporter import Reporter

ADA = Principal("ada")


class Written(list[dict[str, Argument]]):
    """A reporter's store; each report of these tests is closed before the next, so that nothing is merged."""

    async def write(self, fields: Mapping[str, Argument]) -> None:
        self.append(dict(fields))


class Desk:
    """A context, and what is written of its run."""

    def __init__(self, **fields: Any) -> None:
        self.run = new_run(**fields)
        self.written = Written()
        self.reporter = Reporter(self.written.write)
        self.context = RunContext(self.run, ADA, {"pool": 1}, self.reporter)

    async def close(self) -> dict[str, Argument]:
        """All that was written, each field's last value."""
        await self.reporter.close()
        return {name: value for fields in self.written for name, value in fields.items()}


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
    assert logs.of("tool_log") == [
        {"event": "tool_log", "log_level": written, "task_id": ID, "tool": "draw", "data": {"pages": [1]}}
    ]


async def test_a_level_that_there_is_not_is_refused() -> None:
    level: Any = "loud"
    with pytest.raises(ValueError, match="loud"):
        await Desk().context.log(level, "boom")


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
