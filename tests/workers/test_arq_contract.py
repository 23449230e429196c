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
from arq.connections import ArqRedis
from arq.jobs import deserialize_job_raw
from arq.worker import Worker, create_worker, func, get_kwargs

from receiver.queue import FUNCTION, deserialize, encode_job, serialize
from receiver.store.keys import Keys
from tests.workers.claims import ID, new_claim
from tests.workers.stage import until
from workers.handover import Handover
from workers.worker import ReceiverWorker

JOB_ID = "{0}mcp." + ID


class Recorder(Handover):
    """A Handover that keeps what was called."""

    def __init__(self, job: bytes | None) -> None:
        super().__init__(new_claim(job=job))
        self.calls: list[tuple[object, ...]] = []

    def pipeline(self, transaction: bool = True) -> "Recorder":
        self.calls.append(("pipeline", transaction))
        return self

    def get(self, key: str) -> None:
        self.calls.append(("get", key))

    def incr(self, key: str) -> None:
        self.calls.append(("incr", key))

    def expire(self, key: str, seconds: int) -> None:
        self.calls.append(("expire", key, seconds))

    async def execute(self) -> list[Any]:
        self.calls.append(("execute",))
        return await super().execute()


class Stock(Worker):
    """arq's own Worker on a Recorder, with the ends of a job noted."""

    def __init__(self, job: bytes | None = None, **options: Any) -> None:
        self.recorder = Recorder(job)
        self.signals: list[Signals] = []
        self.ends: list[tuple[object, ...]] = []
        self.executed: list[tuple[object, ...]] = []
        self.error: BaseException | None = None
        options = {"job_serializer": serialize, "job_deserializer": deserialize, "handle_signals": False, **options}
        super().__init__([func(self._execute, name=FUNCTION, keep_result=0)], keep_result=0, **options)

    @property
    def pool(self) -> ArqRedis:
        return self.recorder  # type: ignore[return-value] # as ours does

    async def _execute(self, ctx: dict[Any, Any], *arguments: object) -> None:
        self.executed.append(arguments)
        if self.error is not None:
            raise self.error

    async def main(self) -> None:
        """Ends at once."""

    def handle_sig(self, signum: Signals) -> None:
        self.signals.append(signum)

    async def finish_job(self, *arguments: Any) -> None:
        self.ends.append(("finish_job", *arguments))

    async def finish_failed_job(self, job_id: str, result_data: bytes | None) -> None:
        self.ends.append(("finish_failed_job", job_id, result_data is None))


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
        (Worker.run_job, "(self, job_id: str, score: int) -> None"),
        (Worker.start_jobs, "(self, job_ids: list[bytes]) -> None"),
        (
            Worker.finish_job,
            "(self, job_id: str, finish: bool, result_data: Optional[bytes], result_timeout_s: Optional[float], "
            "keep_result_forever: bool, incr_score: Optional[int], keep_in_progress: Optional[float]) -> None",
        ),
        (Worker.finish_failed_job, "(self, job_id: str, result_data: Optional[bytes]) -> None"),
        (Worker.heart_beat, "(self) -> None"),
        (Worker.record_health, "(self) -> None"),
        (Worker.pool.fget, "(self) -> arq.connections.ArqRedis"),  # type: ignore[attr-defined]
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


async def test_run_job_reads_its_job_in_one_pipeline_and_runs_it() -> None:
    worker = Stock()
    await worker.run_job(JOB_ID, 1)
    assert worker.recorder.calls == [
        ("pipeline", True),
        ("get", arq.constants.job_key_prefix + JOB_ID),
        ("incr", arq.constants.retry_key_prefix + JOB_ID),
        ("expire", arq.constants.retry_key_prefix + JOB_ID, 88400),
        ("execute",),
    ]
    assert worker.executed == [(ID,)]
    assert worker.ends == [("finish_job", JOB_ID, True, None, 0, False, None, None)]
    assert worker.job_tasks == {}


async def test_run_job_has_no_time_limit_of_its_own() -> None:
    assert Stock(job_timeout=None).job_timeout_s is None


@pytest.mark.parametrize("error", [ValueError(), asyncio.CancelledError()])
async def test_run_job_does_not_pass_on_what_its_function_raised(error: BaseException) -> None:
    worker = Stock()
    worker.error = error
    await worker.run_job(JOB_ID, 1)
    ((end, *_),) = worker.ends
    assert end == "finish_job"


@pytest.mark.parametrize(
    "job",
    [b"", b"{", b"[]", b'{"f":1}', encode_job(ID).replace(FUNCTION.encode(), b"other")],
    ids=["empty", "no JSON", "a list", "no arguments", "another function"],
)
async def test_run_job_calls_finish_failed_job_for_a_damaged_job(job: bytes) -> None:
    worker = Stock(job)
    await worker.run_job(JOB_ID, 1)
    assert [end[:2] for end in worker.ends] == [("finish_failed_job", JOB_ID)]
    assert worker.executed == []


async def test_run_job_gives_up_after_max_tries_which_is_why_ours_is_without_limit() -> None:
    worker = Stock(max_tries=0)
    await worker.run_job(JOB_ID, 1)
    assert [end[0] for end in worker.ends] == ["finish_failed_job"]


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
