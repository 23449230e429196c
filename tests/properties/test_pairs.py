"""Every two scripts that touch the same task, from every state in which they may meet: who wins, by a table.

Each script runs by itself, so that an order of two is all that a race between them can come to.  ``test_races`` asks
of such pairs what streams were given; here it is how the task stands.
"""

from collections.abc import AsyncIterator

import pytest

from receiver.protocol.lifecycle import TERMINAL
from receiver.store.keys import Keys
from tests.properties import happenings
from tests.properties.happenings import STATES, Happening, Scene
from tests.properties.tables import TABLES, read
from tests.properties.wire import Wire
from tests.store.backends import Backend
from tests.store.world import World

View = dict[str, object]


async def set_scene(world: World, state: str) -> Scene:
    await world.redis.flushall()
    world._claims.clear()
    scene = Scene(world)
    for happening in STATES[state]:
        await happening(scene)
    return scene


def named(name: str) -> Happening:
    found: Happening = getattr(happenings, name)
    return found


async def see(world: World, state: str, *names: str) -> View:
    """How the task stands after these happenings, the last of them sent twice."""
    scene = await set_scene(world, state)
    for name in names:
        await named(name)(scene)
    seen = await scene.view()
    await resend(world, names[-1], scene)
    assert await scene.view() == seen, f"{' and '.join(names)}: the same call sent again changed something"
    return seen


async def resend(world: World, name: str, scene: Scene) -> None:
    if name == "beat":
        world.beat(scene.run)
    else:
        wire = world.client
        assert isinstance(wire, Wire)
        await wire.send_late(-1)


def compare(first: View, second: View, both: View) -> str:
    """How ``both`` stand to each alone: see ``tables``."""
    if both == first:
        return "=" if essence(first) == essence(second) else "1"
    return "2" if essence(both) == essence(second) else "+"


def essence(view: View) -> View:
    """Of a task that ended, how it ended: what had happened before is of no account."""
    if view.get("status") not in TERMINAL:
        return view
    return {name: view.get(name) for name in ("status", "status_message", "payload", "places")}


@pytest.fixture
async def wired(backend: Backend) -> AsyncIterator[World]:
    redis, blocking = backend.connect()
    world = World(backend, redis, blocking, Wire(redis, Keys(), with_flags=backend.server is not None))
    yield world
    await world.close()


@pytest.mark.timeout(240)
@pytest.mark.parametrize("backend", ["fakeredis", "valkey"], indirect=True)
@pytest.mark.parametrize("state", STATES)
async def test_who_wins(wired: World, state: str) -> None:
    expected = read(TABLES[state])
    alone = {name: await see(wired, state, name) for name in expected}
    for first, row in expected.items():
        both = {second: await see(wired, state, first, second) for second in expected}
        found = {second: compare(alone[first], alone[second], both[second]) for second in expected}
        assert found == row, f"{state}, {first} and then another"
