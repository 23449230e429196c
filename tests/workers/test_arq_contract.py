"""What we rely on in arq: a release that changes any of it has to fail here, and not in production."""

import asyncio
import inspect
import signal
from signal import Signals
from typing import Any

import arq.constants
import arq.worker
import orjson
import pytest
from arq.jobs import deserialize_job_raw
from arq.worker import Worker, create_worker, func, get_kwargs

from receiver.queue import FUNCTION, deserialize, encode_job, is_job_of, serialize
from receiver.store.keys import Keys
from tests.workers.claims import ID
from tests.workers.stage import until
from workers.worker import ReceiverWorker

JOB_ID = "{0}mcp." + ID


class Stock(Worker):
    """arq's own Worker, which hears of signals and does nothing else."""

    def __init__(self, **options: Any) -> None:
        self.signals: list[Signals] = []
        options = {"job_serializer": serialize, "job_deserializer": deserialize, "handle_signals": False, **options}
        super().__init__([func(self._execute, name=FUNCTION, keep_result=0)], keep_result=0, **options)

    async def _execute(self, ctx: dict[Any, Any], *arguments: object) -> None:
        """Never called."""

    async def main(self) -> None:
        """Ends at once."""

    def handle_sig(self, signum: Signals) -> None:
        self.signals.append(signum)


def signature(method: Any) -> str:
    return str(inspect.signature(method))


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (Worker.run, "(self) -> None"),
        (Worker.async_run, "(self) -> None"),
        (Worker.main, "(self) -> None"),
        (Worker.close, "(self) -> None"),
        (Worker.handle_sig, "(self, signum: signal.Signals) -> None"),
    ],
)
def test_the_methods_have_their_signatures(method: Any, expected: str) -> None:
    assert signature(method) == expected


def test_the_constructor_takes_what_ours_passes_on() -> None:
    passed = {"queue_name", "redis_pool", "burst", "handle_signals", "max_jobs", "job_timeout", "max_tries"}
    passed |= {"keep_result", "job_serializer", "job_deserializer", "log_results"}
    assert passed <= set(inspect.signature(Worker).parameters)


def test_the_keys_are_those_that_the_scripts_remove() -> None:
    keys, job_id = Keys("mcp", "0"), JOB_ID
    assert keys.job_id(ID) == job_id
    assert keys.arq_job(ID) == arq.constants.job_key_prefix + job_id
    assert keys.arq_retry(ID) == arq.constants.retry_key_prefix + job_id
    assert keys.arq_in_progress(ID) == arq.constants.in_progress_key_prefix + job_id


def test_a_job_is_what_a_stock_arq_writes_and_reads() -> None:
    job = encode_job(ID)
    assert set(orjson.loads(job)) == {"f", "a", "k", "t", "et"}
    function, arguments, keywords, tries, enqueued = deserialize_job_raw(job, deserializer=deserialize)
    assert (function, list(arguments), keywords) == (FUNCTION, [ID], {})
    assert not tries
    assert isinstance(enqueued, int)


def test_what_is_not_exactly_a_job_is_none() -> None:
    job = orjson.loads(encode_job(ID))
    assert is_job_of(ID, encode_job(ID))
    assert not is_job_of("0-" + "1" * 32, encode_job(ID))
    spoiled = [
        {**job, "f": "other"},
        {**job, "a": [ID, ID]},
        {**job, "k": {"x": 1}},
        {**job, "t": 9},
        {**job, "et": "x"},
    ]
    assert not any(is_job_of(ID, orjson.dumps(one)) for one in (*spoiled, {}, [], 1))
    assert not any(is_job_of(ID, text) for text in (b"", b"{"))


def test_the_command_line_builds_what_stands_in_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    class Own:
        def __init__(self, *, app: str, burst: bool = False) -> None:
            self.given = (app, burst)

    class Settings:
        app = "app"
        unknown = "never passed"

    monkeypatch.setattr(arq.worker, "Worker", Own)
    assert get_kwargs(Settings) == {"app": "app"}  # type: ignore[arg-type, comparison-overlap]
    worker: Any = create_worker(Settings, burst=True)  # type: ignore[arg-type]
    assert worker.given == ("app", True)


def test_the_constructor_of_ours_names_what_the_command_line_passes() -> None:
    assert {"functions", "app", "settings", "burst"} <= set(inspect.signature(ReceiverWorker).parameters)


@pytest.mark.parametrize("signum", [Signals.SIGTERM, Signals.SIGINT])
async def test_signals_call_handle_sig(signum: Signals) -> None:
    worker, loop = Stock(handle_signals=True), asyncio.get_running_loop()
    try:
        signal.raise_signal(signum)
        await until(lambda: worker.signals)
    finally:
        loop.remove_signal_handler(Signals.SIGTERM)
        loop.remove_signal_handler(Signals.SIGINT)
    assert worker.signals == [signum]


async def test_the_main_loop_is_a_task_that_can_be_cancelled() -> None:
    worker = Stock()
    await worker.async_run()
    assert worker.main_task is not None
    assert worker.main_task.done()
