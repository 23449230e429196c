"""The hub when its connection is lost, silent or slow: whoever watches looks again, and hears again."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from receiver import hub as hub_module
from receiver import watch as watch_module
from receiver.hub import Hub
from receiver.store.client import connect
from receiver.store.keys import Keys
from tests.proxy import Proxy
from tests.servers import Server
from tests.store.backends import on_real_servers
from tests.store.hubs import make_hub, make_patient, running, settle
from tests.store.world import World, until

pytestmark = pytest.mark.timeout(10)

KEYS = Keys()
CHANNEL = KEYS.events("0-1")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    make_patient(monkeypatch)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "LINGER_SECONDS", 0)


@pytest.fixture
async def hub(world: World) -> AsyncIterator[Hub]:
    async with running(make_hub(world)) as hub:
        yield hub


@on_real_servers
async def test_after_a_lost_connection_all_look_again(world: World, hub: Hub) -> None:
    async with hub.watch("0-1") as first, hub.watch("0-2") as second:
        await settle(hub, first, second)
        assert await world.redis.execute_command("CLIENT", "KILL", "TYPE", "pubsub") == 1
        await asyncio.gather(first.wait(), second.wait())
        await settle(hub, first, second)
        await world.redis.publish(CHANNEL, "x")
        await first.wait()


@on_real_servers
@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("steps", range(0, 60, 3))
async def test_a_connection_lost_while_channels_come_and_go(world: World, hub: Hub, steps: int) -> None:
    async with hub.watch("0-2") as other:
        async with hub.watch("0-3"):
            entering = asyncio.create_task(_hear_once(hub))
            for _ in range(steps):
                await asyncio.sleep(0)
            await world.redis.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
        await settle(hub, other)
        assert await world.redis.publish(KEYS.events("0-2"), "x") == 1
        await other.wait()
        await until(lambda: _publish(world))
        await entering


async def _publish(world: World) -> bool:
    return bool(await world.redis.publish(CHANNEL, "x"))


async def _hear_once(hub: Hub) -> None:
    async with hub.watch("0-1") as watch:
        await watch.wait()
        await watch.wait()


async def test_after_a_restart_of_the_server_all_look_again(own_server: Server) -> None:  # F34
    redis = connect(own_server.url)
    async with running(Hub(redis, KEYS.events, _read_nothing)) as hub, hub.watch("0-1") as watch:
        await settle(hub, watch)
        own_server.kill()
        await asyncio.to_thread(own_server.restart)
        await watch.wait()
        await settle(hub, watch)
        await redis.publish(CHANNEL, "x")
        await watch.wait()
    await redis.aclose(close_connection_pool=True)


async def _read_nothing(task_ids: list[str]) -> list[str]:
    return ["working"] * len(task_ids)


@pytest.fixture
async def proxy(world: World) -> AsyncIterator[Proxy]:
    assert world.backend.server is not None
    async with Proxy(world.backend.server.socket) as proxy:
        yield proxy


@pytest.fixture
async def far_hub(world: World, proxy: Proxy) -> AsyncIterator[Hub]:
    """A hub behind the proxy."""
    redis = connect(proxy.url)
    async with running(make_hub(world, redis)) as hub:
        yield hub
    await redis.aclose(close_connection_pool=True)


@on_real_servers
async def test_without_an_acknowledgement_it_is_entered_after_a_while(
    proxy: Proxy, far_hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "ACK_SECONDS", 0.05)
    proxy.hold()
    async with far_hub.watch("0-1") as watch:
        proxy.release()
        await watch.wait()  # the acknowledgement comes late, and is a reason to look again


@pytest.fixture
def nervous(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asks a silent connection for a sign of life at once."""
    monkeypatch.setattr(hub_module, "IDLE_SECONDS", 0.02)


@on_real_servers
@pytest.mark.usefixtures("nervous")
async def test_a_connection_that_no_longer_answers_is_replaced(proxy: Proxy, far_hub: Hub) -> None:
    async with far_hub.watch("0-1") as watch:
        await settle(far_hub, watch)
        before = proxy.accepted
        proxy.hold()
        await until(lambda: proxy.accepted > before)
        proxy.release()
        await watch.wait()


@on_real_servers
async def test_a_connection_that_is_only_silent_is_kept(
    proxy: Proxy, far_hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has as long to answer as it was silent: here a second, which a busy machine keeps."""
    monkeypatch.setattr(hub_module, "IDLE_SECONDS", 1.0)
    async with far_hub.watch("0-1"):
        connections, replies = proxy.accepted, proxy.replies
        await until(lambda: proxy.replies >= replies + 2)  # each sign of life is one
        assert proxy.accepted == connections
