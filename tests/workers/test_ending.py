import asyncio

import pytest

from workers.ending import Ending, await_ending, call_ending

ERRORS = [ValueError("no"), KeyboardInterrupt(), SystemExit(3), asyncio.CancelledError(), StopIteration(1)]


async def test_a_value_is_unwrapped() -> None:
    async def work() -> int:
        return 7

    assert call_ending(lambda: 7).unwrap() == 7
    assert (await await_ending(work)).unwrap() == 7


@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_any_error_of_a_function_is_caught(error: BaseException) -> None:
    def fail() -> None:
        raise error

    assert call_ending(fail) == Ending(error=error)


@pytest.mark.parametrize("error", ERRORS[:-1], ids=repr)
async def test_any_error_of_a_coroutine_is_caught(error: BaseException) -> None:
    async def fail() -> None:
        raise error

    ending = await asyncio.create_task(await_ending(fail))
    with pytest.raises(type(error)):
        ending.unwrap()


async def test_a_function_that_makes_no_coroutine_has_failed() -> None:
    assert isinstance((await await_ending(lambda: 7)).error, TypeError)  # type: ignore[arg-type, return-value]


async def test_a_cancelled_task_still_has_an_ending() -> None:
    async def work() -> None:
        await asyncio.Event().wait()

    task = asyncio.create_task(await_ending(work))
    await asyncio.sleep(0)
    task.cancel()
    assert isinstance((await task).error, asyncio.CancelledError)
