"""The parts of the rig that could be wrong in silence."""

import asyncio
import sys
import time
from typing import cast

import pytest

from tests.chaos import entry
from tests.chaos.network import Direction, Link, Subscription
from tests.chaos.pace import Pace


def test_one_long_stall_is_told() -> None:
    pace = Pace(2.0)
    assert pace.look(100.0, 0.01) is None
    assert pace.look(100.5, 0.3) == pytest.approx(99.99)


def test_many_short_ones_are_told_too() -> None:
    pace = Pace(2.0)
    told = [pace.look(100 + number / 10, 0.05) for number in range(10)]
    assert [since for since in told if since is not None] == [pytest.approx(99.95), pytest.approx(100.45)]


def test_what_is_long_ago_does_not_count() -> None:
    pace = Pace(2.0)
    assert [pace.look(100 + number, 0.2) for number in range(0, 10, 2)] == [None] * 5


def test_a_skewed_clock_is_wrong_for_who_took_it_before_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (time, entry):
        monkeypatch.setattr(module, "time", module.time)  # restored at the end
    taken = type(time)("taken")
    taken.__dict__["clock"] = time.time
    monkeypatch.setattr(sys, "modules", {"time": time, "taken": taken})
    right = time.time()
    entry.skew_clock(1000.0)
    assert time.time() - right > 999
    assert taken.__dict__["clock"] is time.time


class Sink:
    """Takes what a link passes on."""

    def __init__(self) -> None:
        self.taken = b""

    def write(self, data: bytes) -> None:
        self.taken += data

    async def drain(self) -> None:
        """Nothing waits here."""


async def pass_on(link: Link, direction: Direction, data: bytes, seen: Subscription) -> bytes:
    reader, sink = asyncio.StreamReader(), Sink()
    reader.feed_data(data)
    reader.feed_eof()
    await link._pump(reader, cast(asyncio.StreamWriter, sink), direction, seen)
    return sink.taken


async def test_a_muted_link_loses_messages_to_subscribers_and_nothing_else() -> None:
    link, subscriber, other = Link(0), Subscription(), Subscription()
    assert await pass_on(link, "up", b"SUBSCRIBE", subscriber) == b"SUBSCRIBE"
    link.mute()
    assert await pass_on(link, "down", b"lost", subscriber) == b""
    assert await pass_on(link, "up", b"PING", subscriber) == b"PING"
    assert await pass_on(link, "down", b"reply", other) == b"reply"
    link.heal()
    assert await pass_on(link, "down", b"heard", subscriber) == b"heard"
