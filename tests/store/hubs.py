"""Hubs to test, without their safety nets: what such a hub misses, its test waits for in vain."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from receiver import hub as hub_module
from receiver import watch as watch_module
from receiver.hub import Hub
from receiver.protocol.task_id import new_task_id
from receiver.watch import Watch
from tests.store.world import World


def make_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes the safety nets away."""
    monkeypatch.setattr(watch_module, "ACK_SECONDS", 60)
    monkeypatch.setattr(hub_module, "REREAD_SECONDS", 60)


def make_hub(world: World, redis: Any = None) -> Hub:
    """A hub that has not started."""
    return Hub(redis or world.redis, world.keys.events, world.tasks.get_statuses)


@asynccontextmanager
async def running(hub: Hub) -> AsyncIterator[Hub]:
    """The hub between its start and its stop."""
    hub.start()
    try:
        yield hub
    finally:
        await hub.stop()


async def settle(hub: Hub, *watches: Watch) -> None:
    """Leaves the watches without news: what was published before has been heard."""
    async with hub.watch(new_task_id()):
        pass
    for watch in watches:
        watch.notify()
        await watch.wait()


def is_quiet(watch: Watch) -> bool:
    """Whether the watch has no news."""
    return not watch.has_news
