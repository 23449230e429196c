"""Who is there, for operators: workers and sessions; ``test_nodes`` has the nodes."""

import asyncio

from receiver.store.census import Census
from receiver.store.scripts import Argument
from receiver.store.sessions import SessionStore
from tests.store.clients import begin_session, follow, hear, new_session
from tests.store.world import LEASE, SESSION_IDLE, World, by

# Workers


async def test_a_worker_as_operators_see_it(world: World) -> None:
    details: dict[str, Argument] = {
        "host": "here",
        "pid": 7,
        "version": "1",
        "app": "acme",
        "queues": "plain default",
        "slots": 9,
    }
    world.beats.beat("w1", 0, {**details, "running": 2, "waiting": 1}, {})
    (worker,) = await Census(world.client).list_workers()
    assert (worker.name, worker.host, worker.pid, worker.version, worker.app) == ("w1", "here", 7, "1", "acme")
    assert (worker.queues, worker.slots, worker.running, worker.waiting) == (("plain", "default"), 9, 2, 1)
    assert worker.started_at == worker.seen_at
    assert (worker.lease, worker.is_live) == (LEASE, True)
    assert abs(worker.clock_offset) < 1_000


async def test_a_worker_is_alive_for_a_lease(world: World) -> None:
    census = Census(world.client)
    assert not await census.has_live_worker()
    world.beat()
    assert await census.has_live_worker()
    await world.redis.hincrby(world.keys.worker("w1"), "seen_at", -LEASE)
    (worker,) = await census.list_workers()
    assert not worker.is_live
    assert not await census.has_live_worker()


async def test_a_worker_of_a_longer_lease_may_be_silent_for_longer(world: World) -> None:
    world.beat()
    await world.redis.hincrby(world.keys.worker("w1"), "seen_at", -LEASE)
    await world.redis.hset(world.keys.worker("w1"), "lease", 2 * LEASE)
    assert await Census(world.client).has_live_worker()


async def test_a_worker_whose_hash_is_gone_is_not_shown(world: World) -> None:
    world.beat()
    await world.redis.delete(world.keys.worker("w1"))
    assert await Census(world.client).list_workers() == []


async def test_the_start_of_a_worker_stays(world: World) -> None:
    world.beat()
    await world.redis.hset(world.keys.worker("w1"), "started_at", 5)
    world.beat()
    assert (await Census(world.client).list_workers())[0].started_at == 5


# Sessions


async def ids(world: World, owner: str = "") -> set[str]:
    sessions, position = await Census(world.client).list_sessions(1000, owner=owner)
    assert position is None
    return {session.id for session in sessions}


async def test_a_session_as_operators_see_it(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    await follow(world, session, run.task_id).look()
    await hear(world, session).look()
    await world.subscriptions.subscribe(by("ada", session.id), "acme://a")
    await world.sessions.set_log_level(by("ada", session.id), "warning")
    (shown,), _ = await Census(world.client).list_sessions()
    assert (shown.id, shown.owner, shown.protocol, shown.client) == (session.id, "ada", "2025-11-25", {"name": "test"})
    assert (shown.log_level, shown.streams, shown.subscriptions) == ("warning", 1, 1)
    assert shown.requests == await world.redis.hlen(world.keys.requests(session.id)) == 1
    assert shown.created_at <= shown.heard_at <= await world.now()
    assert 0 < shown.remaining <= SESSION_IDLE


async def test_the_pages_are_all_sessions_once(world: World) -> None:
    begun = {(await begin_session(world, owner)).id for owner in ("ada", "bob", "ada", "eve", "ada")}
    now = await world.now()
    await world.redis.zadd(world.keys.all_sessions(), dict.fromkeys(begun, now + 1_000))  # all of one millisecond
    census, found = Census(world.client), []
    page, position = await census.list_sessions(2)
    while page:
        assert len(page) <= 2
        found += [session.id for session in page]
        page, position = await census.list_sessions(2, position) if position else ([], None)
    assert sorted(found) == sorted(begun)


async def test_the_sessions_of_one_owner(world: World) -> None:
    ours, _ = await begin_session(world), await begin_session(world, "bob")
    assert await ids(world, "ada") == {ours.id}
    assert await ids(world, "eve") == set()


async def test_many_that_ended_are_passed_over(world: World) -> None:
    living = await begin_session(world)
    now = await world.now()
    later = {f"gone{number}": now + 2 * SESSION_IDLE for number in range(150)}
    await world.redis.zadd(world.keys.all_sessions(), later)
    census = Census(world.client)
    page, position = await census.list_sessions(50)
    assert [session.id for session in page] == [living.id]
    await world.redis.zadd(world.keys.all_sessions(), {f"more{n}": now + 3 * SESSION_IDLE for n in range(3_000)})
    page, position = await census.list_sessions(50)
    assert page == []  # that was all that one call looks at
    assert position is not None
    found, last = await census.list_sessions(1000, position)
    assert [session.id for session in found] == [living.id]
    assert last is None


async def test_a_session_that_ends_leaves_the_index(world: World) -> None:
    session, other = await begin_session(world), await begin_session(world)
    assert await Census(world.client).count_sessions() == 2
    await world.sessions.end(session)
    assert await world.members(world.keys.all_sessions()) == [other.id]


async def test_beyond_the_cap_too(world: World) -> None:
    await begin_session(world)
    newest = new_session()
    await SessionStore(world.client, idle=SESSION_IDLE, cap=1).start(newest, {})
    assert await world.members(world.keys.all_sessions()) == [newest.id]


async def test_a_request_does_not_touch_the_index(world: World) -> None:
    session = await begin_session(world)
    await world.redis.pexpire(world.keys.session(session.id), 1_000)
    await world.redis.zadd(world.keys.all_sessions(), {session.id: 7})
    await world.sessions.confirm(session)
    assert await world.redis.zscore(world.keys.all_sessions(), session.id) == 7


async def test_a_sweep_forgets_what_ended_and_keeps_what_lives(world: World) -> None:
    living, silent, ended = [await begin_session(world) for _ in range(3)]
    await world.sessions.end(ended)  # a mark of it stays for a minute
    await world.redis.delete(world.keys.session(silent.id))
    await world.redis.zadd(world.keys.all_sessions(), {living.id: 1, silent.id: 2, ended.id: 3})
    assert await Census(world.client).sweep_sessions(100) == 3
    assert await world.members(world.keys.all_sessions()) == [living.id]
    score = await world.redis.zscore(world.keys.all_sessions(), living.id)
    assert await world.now() + SESSION_IDLE - 10_000 < score <= await world.now() + SESSION_IDLE
    assert await Census(world.client).sweep_sessions(100) == 0


async def test_a_sweep_is_bounded(world: World) -> None:
    await world.redis.zadd(world.keys.all_sessions(), {f"gone{number}": number for number in range(1, 6)})
    census = Census(world.client)
    assert [await census.sweep_sessions(2) for _ in range(4)] == [2, 2, 1, 0]


async def test_a_session_whose_ttl_ended_is_swept_by_itself(world: World) -> None:
    session = await begin_session(world)
    await world.redis.pexpire(world.keys.session(session.id), 1)
    await world.redis.zadd(world.keys.all_sessions(), {session.id: 1})
    while await world.redis.exists(world.keys.session(session.id)):  # noqa: ASYNC110 - Redis tells nobody
        await asyncio.sleep(0.002)
    await Census(world.client).sweep_sessions(10)
    assert await ids(world) == set()
