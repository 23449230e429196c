"""Sessions: known to every node, ended for good, and no business of any task."""

import pytest

from receiver.protocol.errors import SessionEnded
from receiver.store import sessions as sessions_module
from receiver.store.runs import Verdict
from receiver.store.sessions import SessionStore
from tests.store.clients import begin_session, follow, hear, new_session, say
from tests.store.world import ADA, SESSION_IDLE, World, by


def another_node(world: World, *, cap: int = 1_000) -> SessionStore:
    return SessionStore(world.client, idle=SESSION_IDLE, cap=cap)


async def is_alive(world: World, session_id: str) -> bool:
    return await another_node(world).find(session_id, "ada") is not None


# Begin


async def test_every_node_knows_a_session(world: World) -> None:
    session = await begin_session(world, capabilities={"sampling": {"tools": {}}})
    assert await another_node(world).find(session.id, "ada") == session


async def test_nobody_else_does(world: World) -> None:  # S-01
    session = await begin_session(world)
    for store in (world.sessions, another_node(world)):
        assert await store.find(session.id, "bob") is None
        assert await store.find(session.id, "ada") is not None


@pytest.mark.parametrize("session_id", ["", "x", "a" * 47, "A" * 48, "é" * 48, "ab" * 24 + "\n", "ab" * 24])
async def test_what_never_began_is_unknown(world: World, session_id: str) -> None:
    assert await world.sessions.find(session_id, "ada") is None


async def test_a_session_of_an_unknown_revision_is_unknown(world: World) -> None:
    """As one that a newer node began during an upgrade."""
    session = await begin_session(world)
    await world.redis.hset(world.keys.session(session.id), "protocol", "2099-01-01")
    assert await another_node(world).find(session.id, "ada") is None


async def test_what_does_not_change_is_not_read_again(world: World) -> None:
    session = await begin_session(world)
    store = another_node(world)
    await store.find(session.id, "ada")
    await world.redis.delete(world.keys.session(session.id))
    assert await store.find(session.id, "ada") == session
    with pytest.raises(SessionEnded):
        await store.confirm(session)


async def test_a_node_remembers_so_many_and_no_more(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions_module, "REMEMBERED", 2)
    store = another_node(world)
    sessions = [await begin_session(world) for _ in range(3)]
    for session in (*sessions, sessions[1]):
        await store.find(session.id, "ada")
    assert list(store._remembered) == [sessions[2].id, sessions[1].id]


async def test_begun_again_when_its_reply_was_lost(world: World) -> None:
    first, second = await begin_session(world), new_session()
    async with world.losing_replies() as lossy:
        await SessionStore(lossy.client, idle=SESSION_IDLE, cap=2).start(second, {})
    assert set(await world.members(world.keys.sessions("ada"))) == {first.id, second.id}


async def test_a_silent_session_ends_by_itself(world: World) -> None:
    session = await begin_session(world)
    for key in (world.keys.session(session.id), world.keys.sessions("ada")):
        assert SESSION_IDLE - 10_000 < await world.redis.pttl(key) <= SESSION_IDLE


# The cap


async def test_beyond_the_cap_the_one_that_was_silent_longest_ends(world: World) -> None:
    sessions = [await begin_session(world) for _ in range(3)]
    now = await world.now()
    ages = dict(zip((session.id for session in sessions), (now - 2, now - 3, now - 1), strict=True))
    await world.redis.zadd(world.keys.sessions("ada"), ages)
    await another_node(world, cap=3).start(new_session(), {})
    assert [await is_alive(world, session.id) for session in sessions] == [True, False, True]
    assert len(await world.members(world.keys.sessions("ada"))) == 3


async def test_a_lowered_cap_ends_as_many_as_it_takes(world: World) -> None:
    sessions = [await begin_session(world) for _ in range(5)]
    newest = new_session()
    await another_node(world, cap=2).start(newest, {})
    alive = {session.id for session in (*sessions, newest) if await is_alive(world, session.id)}
    assert alive == set(await world.members(world.keys.sessions("ada")))
    assert len(alive) == 2
    assert newest.id in alive


async def test_what_ended_by_itself_does_not_count(world: World) -> None:
    silent, other = await begin_session(world), await begin_session(world)
    await world.redis.delete(world.keys.session(silent.id))
    await world.redis.zadd(world.keys.sessions("ada"), {silent.id: await world.now() - SESSION_IDLE})
    await another_node(world, cap=9).start(new_session(), {})
    assert len(await world.members(world.keys.sessions("ada"))) == 2
    await world.redis.zadd(world.keys.sessions("ada"), {silent.id: await world.now() - SESSION_IDLE})
    await another_node(world, cap=3).start(new_session(), {})
    assert await is_alive(world, other.id)


async def test_each_owner_has_a_cap_of_its_own(world: World) -> None:
    session = await begin_session(world)
    await another_node(world, cap=1).start(new_session("bob"), {})
    assert await is_alive(world, session.id)


# The end


async def test_the_end_takes_all_away_but_the_tasks(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    stream, own = follow(world, session, run.task_id), hear(world, session)
    await stream.look()
    await own.look()
    await say(world, run, b"{}")
    before = await world.record(run.task_id)
    assert await world.sessions.end(session)
    assert not await is_alive(world, session.id)
    keys = world.keys
    gone = [keys.sessions("ada"), keys.requests(session.id), keys.talking(session.id), keys.hearers(session.id)]
    assert not await world.redis.exists(*gone)
    assert await world.record(run.task_id) == before
    assert await stream.look() == [b"{}"]
    assert (await world.tasks.get(ADA, run.task_id)).status == "working"


async def test_streams_of_the_session_are_told(world: World) -> None:  # H-13
    session = await begin_session(world)
    own = hear(world, session)
    await own.look()
    async with world.listening(world.keys.session_events(session.id)) as heard:
        await world.sessions.end(session)
        assert await heard() == "ended"
    with pytest.raises(SessionEnded):
        await own.look()


async def test_what_has_ended_ends_no_more(world: World) -> None:
    session = await begin_session(world)
    assert await world.sessions.end(session)
    assert not await another_node(world).end(session)
    with pytest.raises(SessionEnded):
        await world.sessions.confirm(session)


async def test_nobody_ends_a_session_of_another(world: World) -> None:
    session = await begin_session(world)
    before = await world.dump()
    assert not await world.client.call("end_session", session.id, "bob", "nonce")
    assert await world.dump() == before


async def test_ended_again_when_its_reply_was_lost(world: World) -> None:
    session = await begin_session(world)
    async with world.losing_replies() as lossy:
        assert await lossy.sessions.end(session)
    assert 0 < await world.redis.pttl(world.keys.session(session.id)) <= 60_000


async def test_a_run_still_reports_when_its_session_has_ended(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    await world.sessions.end(session)
    stream = follow(world, await begin_session(world), run.task_id)
    await stream.look()
    assert await say(world, run, b"{}") is Verdict.DONE
    assert not await world.redis.exists(world.keys.talking(session.id))
    assert await stream.look() == [b"{}"]


# What is a sign of life


async def test_open_streams_keep_a_session_alive(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    for stream in (hear(world, session), follow(world, session, run.task_id)):
        await world.redis.pexpire(world.keys.session(session.id), SESSION_IDLE // 2)
        await stream.look()
        assert await world.redis.pttl(world.keys.session(session.id)) > SESSION_IDLE - 10_000


async def test_a_stream_of_a_task_does_not_bring_back_a_session(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    stream = follow(world, session, run.task_id)
    await world.sessions.end(session)
    assert await stream.look() == []
    assert not await is_alive(world, session.id)
    assert await world.members(world.keys.sessions("ada")) == []
    assert not await world.redis.exists(world.keys.requests(session.id))


# Log levels


async def test_a_log_level_is_kept_with_the_session(world: World) -> None:  # L-09
    session = await begin_session(world)
    async with world.losing_replies() as lossy:
        await lossy.sessions.set_log_level(by("ada", session.id), "warning")
    level, rank = await world.redis.hmget(world.keys.session(session.id), "log_level", "log_rank")
    assert (level, rank) == (b"warning", b"3")
    assert await another_node(world).find(session.id, "ada") == session
