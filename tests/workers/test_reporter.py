import asyncio
from collections.abc import Mapping

import pytest

import workers.reporter
from receiver.protocol.errors import Refused
from receiver.store.scripts import Argument
from tests.workers.stage import Logs, until
from workers.reporter import PAUSE_SECONDS, Reporter


class Writer:
    """Where a reporter writes to."""

    def __init__(self) -> None:
        self.written: list[dict[str, Argument]] = []
        self.begun = 0
        self.may_write = asyncio.Event()
        self.may_write.set()
        self.errors: list[Exception] = []

    async def __call__(self, fields: Mapping[str, Argument]) -> None:
        self.begun += 1
        await self.may_write.wait()
        self.written.append(dict(fields))
        if self.errors:
            raise self.errors.pop(0)


async def test_the_first_is_written_at_once() -> None:
    writer = Writer()
    reporter = Reporter(writer)
    reporter.report({"progress": "1"})
    await until(lambda: writer.written)
    assert writer.written == [{"progress": "1"}]
    await reporter.close()
    assert writer.written == [{"progress": "1"}]


async def test_what_comes_too_fast_is_merged_and_the_last_of_each_field_is_written() -> None:
    writer = Writer()
    reporter = Reporter(writer)
    for number in range(50):
        reporter.report({"progress": str(number)})
        await asyncio.sleep(0)
    reporter.report({"status_message": "nearly"})
    await reporter.close()
    assert writer.written == [{"progress": "0"}, {"progress": "49", "status_message": "nearly"}]


async def test_no_second_write_comes_before_the_pause_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    assert PAUSE_SECONDS >= 0.1
    monkeypatch.setattr(workers.reporter, "PAUSE_SECONDS", 3600)
    writer = Writer()
    reporter = Reporter(writer)
    reporter.report({"progress": "1"})
    await until(lambda: writer.written)
    for _ in range(10):
        reporter.report({"progress": "2"})
        await asyncio.sleep(0)
    assert writer.written == [{"progress": "1"}]
    await reporter.close()
    assert writer.written == [{"progress": "1"}, {"progress": "2"}]


async def test_writing_begins_anew_after_a_quiet_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers.reporter, "PAUSE_SECONDS", 0.0)
    writer = Writer()
    reporter = Reporter(writer)
    for number in range(3):
        reporter.report({"progress": str(number)})
        await until(lambda: reporter._writing is not None and reporter._writing.done())
    assert [fields["progress"] for fields in writer.written] == ["0", "1", "2"]


async def test_close_waits_for_a_slow_store_and_does_not_pause() -> None:
    writer = Writer()
    writer.may_write.clear()
    reporter = Reporter(writer)
    reporter.report({"progress": "1"})
    await until(lambda: writer.begun)
    reporter.report({"progress": "2"})
    closing = asyncio.create_task(reporter.close())
    await asyncio.sleep(0)
    assert not closing.done()
    writer.may_write.set()
    await closing
    assert writer.written == [{"progress": "1"}, {"progress": "2"}]


async def test_nothing_is_written_after_the_end() -> None:
    writer = Writer()
    reporter = Reporter(writer)
    await reporter.close()
    reporter.report({"progress": "1"})
    await asyncio.sleep(0)
    assert writer.begun == 0


@pytest.mark.parametrize("error", [Refused("storage_full", "full"), RuntimeError("broken")])
async def test_a_remark_that_can_t_be_written_costs_nothing_else(error: Exception, logs: Logs) -> None:
    writer = Writer()
    writer.errors.append(error)
    reporter = Reporter(writer)
    reporter.report({"progress": "1"})
    await until(lambda: writer.written)
    reporter.report({"progress": "2"})
    await reporter.close()
    assert writer.written[-1] == {"progress": "2"}
    assert len(logs.of("report_dropped") + logs.of("report_failed")) == 1
