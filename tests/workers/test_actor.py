import asyncio

import pytest
from redis.exceptions import ConnectionError

import workers.actor
from receiver.store.client import pause_before
from tests.workers.stage import Logs, until
from workers.actor import Actors, keep_going


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The arguments of each pause, none of which takes any time."""
    pauses: list[int] = []

    def pause(failures: int) -> float:
        pauses.append(failures)
        return 0.0

    monkeypatch.setattr(workers.actor, "pause_before", pause)
    return pauses


class Work:
    """What an actor does: it ends as told, and is then started again, or waits."""

    def __init__(self, *ends: Exception | None) -> None:
        self.ends = list(ends)
        self.waits = asyncio.Event()

    async def __call__(self) -> None:
        if not self.ends:
            self.waits.set()
            await asyncio.Event().wait()
        if error := self.ends.pop(0):
            raise error


@pytest.mark.usefixtures("pauses")
async def test_an_actor_goes_on_whatever_happens(logs: Logs) -> None:
    work = Work(ConnectionError(), None, OSError(), ValueError("a mistake"))
    actors = Actors()
    actors.keep_going("worker", work)
    await work.waits.wait()
    await actors.stop()
    assert [line["actor"] for line in logs.of("actor_failed")] == ["worker"]


async def test_the_pause_grows_up_to_a_limit(pauses: list[int]) -> None:
    work = Work(*[ConnectionError()] * 2000)
    actors = Actors()
    actors.keep_going("worker", work)
    await work.waits.wait()
    await actors.stop()
    assert pauses[:3] == [1, 2, 3]
    assert pauses[-1] == max(pauses)
    assert pause_before(max(pauses)) > 0.2


async def test_an_actor_that_worked_for_long_starts_with_the_shortest_pause(
    pauses: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Work(ConnectionError(), ConnectionError())
    monkeypatch.setattr(workers.actor, "STABLE_SECONDS", -1.0)
    actors = Actors()
    actors.keep_going("worker", work)
    await work.waits.wait()
    await actors.stop()
    assert pauses == [0, 0]


async def test_an_actor_ends_when_it_is_cancelled() -> None:
    work = Work()
    task = asyncio.create_task(keep_going("worker", work))
    await work.waits.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_stop_waits_for_what_an_actor_clears_up() -> None:
    events: list[str] = []
    waits = asyncio.Event()

    async def work() -> None:
        try:
            waits.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            events.append("cleared up")

    actors = Actors()
    actors.spawn(work())
    await waits.wait()
    await actors.stop()
    assert events == ["cleared up"]


async def test_stop_goes_on_until_a_cancellation_is_heard() -> None:
    deafness = 2
    waits = asyncio.Event()

    async def work() -> None:
        nonlocal deafness
        while deafness:
            try:
                waits.set()
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                deafness -= 1

    actors = Actors()
    actors.spawn(work())
    await waits.wait()
    await actors.stop()
    assert deafness == 0


async def test_the_error_of_an_errand_goes_to_the_log(logs: Logs) -> None:
    async def fail() -> None:
        raise ValueError("no")

    actors = Actors()
    actors.spawn(fail())
    await until(lambda: not actors._tasks)
    assert [str(line["exc_info"]) for line in logs.of("errand_failed")] == ["no"]
