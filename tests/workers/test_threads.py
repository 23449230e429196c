import asyncio
import threading
from contextvars import ContextVar

import pytest

from tests.workers.scene import ThreadGate
from tests.workers.stage import until
from workers.threads import ABANDONED_LIMIT, Threads

SETTING: ContextVar[str] = ContextVar("setting")


def retire_never() -> None:
    raise AssertionError("it need not retire")


async def test_a_function_returns_from_a_daemon_thread_with_the_name_of_its_task() -> None:
    thread = (await Threads(retire_never).run("0-ab", threading.current_thread)).unwrap()
    assert (thread.name, thread.daemon) == ("0-ab", True)
    assert thread is not threading.current_thread()


async def test_a_function_sees_the_context_of_its_start() -> None:
    SETTING.set("here")
    future = Threads(retire_never).run("name", SETTING.get)
    SETTING.set("there")
    assert (await future).unwrap() == "here"


@pytest.mark.parametrize("error", [ValueError, StopIteration, SystemExit, KeyboardInterrupt, asyncio.CancelledError])
async def test_what_a_function_raises_is_its_ending(error: type[BaseException]) -> None:
    def fail() -> None:
        raise error

    assert isinstance((await Threads(retire_never).run("name", fail)).error, error)


async def test_threads_are_counted_from_when_they_are_given_up_to_their_end() -> None:
    threads, gate = Threads(retire_never), ThreadGate()
    futures = [threads.run("name", gate.wait) for _ in range(ABANDONED_LIMIT)]
    assert threads.abandoned == 0
    for future in futures:
        threads.abandon(future)
    assert threads.abandoned == ABANDONED_LIMIT
    assert all(future.cancelled() for future in futures)
    gate.opened.set()
    await until(lambda: threads.abandoned == 0)


async def test_too_many_abandoned_threads_retire_the_worker() -> None:
    retired: list[int] = []
    gate = ThreadGate()
    threads = Threads(lambda: retired.append(threads.abandoned))
    for _ in range(ABANDONED_LIMIT + 1):
        assert retired == []
        threads.abandon(threads.run("name", gate.wait))
    assert retired == [ABANDONED_LIMIT + 1]
    gate.opened.set()
    await until(lambda: threads.abandoned == 0)


def test_a_thread_may_outlive_the_loop() -> None:
    opened, thread = threading.Event(), None

    async def start() -> threading.Thread:
        started: asyncio.Future[threading.Thread] = asyncio.get_running_loop().create_future()
        loop = asyncio.get_running_loop()

        def work() -> None:
            loop.call_soon_threadsafe(started.set_result, threading.current_thread())
            opened.wait()

        Threads(retire_never).run("name", work)
        return await started

    thread = asyncio.run(start())
    opened.set()
    thread.join()  # pytest fails a test whose thread died of an exception
