import asyncio
from collections.abc import Mapping, Sequence

import pytest

import workers.reporter
from receiver.protocol.errors import Refused
from receiver.store.runs import Notice
from receiver.store.scripts import Argument
from tests.workers.stage import Logs, until
from workers.reporter import MOST_NOTICES, PAUSE_SECONDS, Reporter


class Writer:
    """Where a reporter writes to."""

    def __init__(self) -> None:
        self.written: list[dict[str, Argument]] = []
        self.said: list[bytes] = []
        self.begun = 0
        self.may_write = asyncio.Event()
        self.may_write.set()
        self.errors: list[Exception] = []

    async def __call__(self, fields: Mapping[str, Argument], notices: Sequence[Notice]) -> None:
        self.begun += 1
        await self.may_write.wait()
        self.written.append(dict(fields))
        self.said += [notice.body for notice in notices]
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


async def test_messages_go_out_in_the_order_in_which_they_were_said() -> None:
    writer = Writer()
    reporter = Reporter(writer)
    for number in range(5):
        reporter.say(Notice(b"%d" % number))
        await asyncio.sleep(0)
    reporter.report({"progress": "1"})
    await reporter.close()
    assert writer.said == [b"0", b"1", b"2", b"3", b"4"]
    assert writer.written == [{}, {"progress": "1"}]


async def test_of_too_many_messages_the_newest_of_each_kind_are_kept() -> None:  # L-08, L-09
    writer = Writer()
    reporter = Reporter(writer)
    for number in range(MOST_NOTICES + 7):
        reporter.say(Notice(b"log %d" % number, rank=1))
        reporter.say(Notice(b"progress %d" % number), most=3)
    await reporter.close()
    logs = [body for body in writer.said if body.startswith(b"log")]
    assert logs == [b"log %d" % number for number in range(7, MOST_NOTICES + 7)]
    last = MOST_NOTICES + 7
    assert [body for body in writer.said if body not in logs] == [b"progress %d" % n for n in range(last - 3, last)]


async def test_nothing_is_said_after_the_end() -> None:
    writer = Writer()
    reporter = Reporter(writer)
    await reporter.close()
    reporter.say(Notice(b"late"))
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
