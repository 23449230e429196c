import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator

import pytest

from tests.workers.stage import until
from workers.signals import SignalRelay


@pytest.fixture
async def relay() -> AsyncIterator[SignalRelay]:
    relay = SignalRelay()
    yield relay
    relay.end()
    for number in (signal.SIGTERM, signal.SIGUSR1):
        asyncio.get_running_loop().remove_signal_handler(number)


async def test_the_loop_hears_of_a_signal_as_before(relay: SignalRelay) -> None:
    heard = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, heard.set)
    relay.begin()
    os.kill(os.getpid(), signal.SIGTERM)
    await heard.wait()
    assert (relay.is_late(60), relay.is_late(0)) == (False, True)


async def test_a_signal_is_noticed_while_the_loop_is_held_up(relay: SignalRelay) -> None:
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: None)
    relay.begin()
    noticed = threading.Event()

    def look() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        while not relay.is_late(0):
            pass
        noticed.set()

    threading.Thread(target=look).start()
    noticed.wait()  # it would wait for ever


async def test_a_second_signal_ends_the_grace_period(relay: SignalRelay) -> None:
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: None)
    relay.begin()
    os.kill(os.getpid(), signal.SIGTERM)
    await until(lambda: relay.is_late(0))
    os.kill(os.getpid(), signal.SIGTERM)
    await until(lambda: relay.is_late(60))


async def test_a_signal_that_does_not_end_a_process_is_passed_on_and_no_more(relay: SignalRelay) -> None:
    heard = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, heard.set)
    relay.begin()
    os.kill(os.getpid(), signal.SIGUSR1)
    await heard.wait()
    assert not relay.is_late(0)


async def test_the_loop_has_its_signals_back_after_the_end(relay: SignalRelay) -> None:
    heard = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, heard.set)
    relay.begin()
    relay.end()
    os.kill(os.getpid(), signal.SIGTERM)
    await heard.wait()
    assert not relay.is_late(0)
