import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import pytest

import workers.progress
from receiver.store.runs import Notice
from receiver.store.scripts import Argument
from tests.workers.claims import new_claim
from tests.workers.stage import until
from workers.progress import PULSE_SECONDS, Progress
from workers.reporter import Reporter


class Caller:
    """What the caller of a plain call hears."""

    def __init__(self, **fields: Any) -> None:
        self.heard: list[dict[str, Any]] = []
        self.reporter = Reporter(self._write)
        self.progress = Progress(new_claim(kind="call", **fields), None, self.reporter)

    async def _write(self, fields: Mapping[str, Argument], notices: Sequence[Notice]) -> None:
        self.heard += [orjson.loads(notice.body)["params"] for notice in notices]


@pytest.fixture
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    assert PULSE_SECONDS <= 20
    monkeypatch.setattr(workers.progress, "PULSE_SECONDS", 0.05)


@pytest.mark.usefixtures("_fast")
async def test_a_caller_with_a_token_hears_that_the_work_goes_on() -> None:
    caller = Caller(progress_token="7")
    pulse = asyncio.create_task(caller.progress.keep_pulse())
    await until(lambda: len(caller.heard) >= 2)
    caller.progress.report(0.5, message="half")
    await until(lambda: any(params["progress"] > 0.5 for params in caller.heard))
    pulse.cancel()
    told = [params["progress"] for params in caller.heard]
    assert told == sorted(set(told))  # T-62
    assert 0.5 in told
    first = caller.heard[0]
    assert first.keys() == {"progressToken", "progress", "message"}
    assert first["progressToken"] == 7
    assert re.fullmatch(r"Running for \d+ s", first["message"])


async def test_nobody_hears_it_who_gave_no_token() -> None:
    caller = Caller()
    await caller.progress.keep_pulse()
    assert caller.heard == []
