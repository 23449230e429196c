"""The backlog: events of one process on their way to the trail."""

import asyncio
from collections.abc import Sequence
from functools import partial

import pytest
from structlog.testing import capture_logs

from receiver.protocol.errors import Unavailable
from receiver.store.audit import AuditTrail
from receiver.store.backlog import ATTEMPTS, BATCH, STRANGERS, Backlog
from receiver.store.client import Client
from receiver.store.scripts import Argument
from receiver.telemetry.audit import Event, stranger
from tests.store.world import World, until

Call = tuple[str, int, Sequence[Sequence[Argument]]]


class FailingTrail(AuditTrail):
    """Fails so many times before it appends."""

    def __init__(self, client: Client, failures: int) -> None:
        super().__init__(client)
        self.failures = failures
        self.numbers: list[int] = []

    async def append(self, process: str, number: int, events: Sequence[Sequence[Argument]]) -> None:
        self.numbers.append(number)
        if self.failures:
            self.failures -= 1
            raise Unavailable
        await super().append(process, number, events)


def event(number: int) -> Event:
    return Event("client", "tasks/get", "ada", "owner", request=str(number))


async def stored(world: World) -> list[tuple[str, int]]:
    """The request of each event, and how often it happened."""
    page = await AuditTrail(world.client).page(limit=1000)
    return [(entry.event.request, entry.times) for entry in reversed(page.entries)]


async def test_what_waits_is_appended_in_order(world: World) -> None:
    backlog = Backlog(AuditTrail(world.client))
    for number in (1, 2, 1, 3):
        backlog.note(event(number))
    assert await stored(world) == []
    await backlog.flush()
    await backlog.flush()
    assert await stored(world) == [("1", 2), ("2", 1), ("3", 1)]


async def test_many_are_appended_in_some_batches(world: World) -> None:
    backlog = Backlog(trail := FailingTrail(world.client, 0))
    for number in range(BATCH + 1):
        backlog.note(event(number))
    await backlog.flush()
    assert trail.numbers == [1, 2]
    assert len(await stored(world)) == BATCH + 1


async def test_the_actor_appends_without_being_told(world: World) -> None:
    async def has(count: int) -> bool:
        return len(await stored(world)) == count

    backlog = Backlog(AuditTrail(world.client))
    actor = asyncio.create_task(backlog.keep_flushing(interval=0.001))
    for number in range(3):
        backlog.note(event(number))
        await until(partial(has, number + 1))
    actor.cancel()


async def test_closing_appends_what_waits(world: World) -> None:
    backlog = Backlog(AuditTrail(world.client))
    backlog.note(event(1))
    await backlog.close()
    assert await stored(world) == [("1", 1)]
    assert backlog.dropped == 0


async def test_what_is_interrupted_is_appended_once(world: World) -> None:
    """A node that stops while its actor flushes: the batch went out, and nobody heard that it arrived."""

    class Interrupted(AuditTrail):
        async def append(self, process: str, number: int, events: Sequence[Sequence[Argument]]) -> None:
            await super().append(process, number, events)
            sent.set()
            await hold.wait()

    sent, hold = asyncio.Event(), asyncio.Event()
    backlog = Backlog(Interrupted(world.client))
    backlog.note(event(1))
    flush = asyncio.create_task(backlog.flush())
    await sent.wait()
    flush.cancel()
    hold.set()
    await asyncio.wait([flush])
    await backlog.close()
    assert await stored(world) == [("1", 1)]


async def test_an_outage_is_waited_out(world: World) -> None:
    backlog = Backlog(trail := FailingTrail(world.client, ATTEMPTS - 1))
    backlog.note(event(1))
    for _ in range(ATTEMPTS):
        await backlog.flush()
        backlog.note(event(2))
    assert trail.numbers == [1] * ATTEMPTS
    await backlog.flush()
    assert await stored(world) == [("1", 1), ("2", ATTEMPTS)]
    assert backlog.dropped == 0


async def test_what_no_attempt_brings_is_dropped_and_told(world: World) -> None:
    backlog = Backlog(FailingTrail(world.client, ATTEMPTS))
    for _ in range(2):
        backlog.note(event(1))
    with capture_logs() as logs:
        for _ in range(ATTEMPTS):
            await backlog.flush()
        await backlog.close()
    assert backlog.dropped == 2
    assert {"event": "audit_events_dropped", "count": 2, "log_level": "warning"} in logs
    assert await stored(world) == []


async def test_what_closing_can_not_bring_is_told(world: World) -> None:
    backlog = Backlog(FailingTrail(world.client, 1))
    backlog.note(event(1))
    with capture_logs() as logs:
        await backlog.close()
    assert [line["count"] for line in logs if line["event"] == "audit_events_dropped"] == [1]


async def test_it_is_bounded(world: World) -> None:
    backlog = Backlog(AuditTrail(world.client), capacity=2)
    for number in (1, 2, 3, 1):
        backlog.note(event(number))
    with capture_logs() as logs:
        await backlog.flush()
    assert await stored(world) == [("1", 2), ("2", 1)]
    assert [(line["event"], line["count"]) for line in logs] == [("audit_events_dropped", 1)]


async def test_strangers_do_not_fill_it(world: World) -> None:
    """Whoever is refused at the door has no limit of requests, and may have many addresses."""
    backlog = Backlog(AuditTrail(world.client))
    for _ in range(2):
        for number in range(STRANGERS + 50):
            backlog.note(stranger(f"192.0.2.{number}", "invalid_token"))
    await backlog.flush()
    entries = (await AuditTrail(world.client).page(limit=1000)).entries
    assert len(entries) == STRANGERS + 1
    assert {entry.event.address: entry.times for entry in entries}[""] == 100
    assert sum(entry.times for entry in entries) == 2 * (STRANGERS + 50)


@pytest.mark.parametrize("kept", [0, 1])
async def test_without_a_trail_nothing_waits(world: World, kept: int) -> None:
    client = Client(world.redis, world.keys, with_flags=world.with_flags, audit_events=kept)
    backlog = Backlog(trail := FailingTrail(client, 0))
    backlog.note(event(1))
    await backlog.flush()
    assert len(trail.numbers) == kept
