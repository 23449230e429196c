"""Subscriptions: who asked for it is told of each update, once; they end with their sessions, and leave nothing."""

import asyncio

import pytest

from receiver.protocol.errors import Refused
from receiver.protocol.messages import render_resource_updated
from receiver.session import Session
from receiver.store import subscriptions
from receiver.store.sessions import SessionStore
from receiver.store.subscriptions import SubscriptionStore
from tests.store.clients import Connection, begin_session, hear, new_session, say
from tests.store.world import ADA, SESSION_IDLE, STREAM_LEASE, World, by

OUTBOX = 256
URI = "test://watched/ä b?c={d}"
UPDATED = render_resource_updated(URI)


async def subscribe(world: World, session: Session, *uris: str) -> None:
    for uri in uris or (URI,):
        await world.subscriptions.subscribe(by(session.owner, session.id), uri)


async def unsubscribe(world: World, session: Session, uri: str = URI) -> None:
    await world.subscriptions.unsubscribe(by(session.owner, session.id), uri)


async def listen(world: World, *uris: str, owner: str = "ada") -> Connection:
    """An open stream of a new session that subscribed."""
    session = await begin_session(world, owner)
    await subscribe(world, session, *uris)
    stream = hear(world, session)
    await stream.look()
    return stream


def keys_of(world: World, session: Session, *uris: str) -> list[str]:
    """The keys that a session's subscriptions need."""
    return [world.keys.subscribed(session.id), *(world.keys.subscribers(uri) for uri in uris or (URI,))]


async def ends_of(world: World, *keys: str) -> list[int]:
    return [await world.redis.pexpiretime(key) for key in keys]


def are_one(world: World, *ends: float) -> bool:
    """Whether these times are the same: TIME goes on while a script runs, and what PEXPIRE counts from does not."""
    return max(ends) - min(ends) <= 1_000


# Who is told


async def test_each_update_is_told_to_all_who_subscribed(world: World) -> None:
    streams = [await listen(world), await listen(world, owner="bob")]
    for _ in range(2):
        await world.subscriptions.announce(URI)
        for stream in streams:
            assert await stream.look() == [UPDATED]
            assert await stream.look() == []


async def test_many_are_told_by_and_by(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "BATCH", 10)
    streams = [await listen(world) for _ in range(200)]  # more than a small set holds: those are read whole
    await world.subscriptions.announce(URI)
    assert [await stream.look() for stream in streams] == [[UPDATED]] * 200


@pytest.mark.parametrize("uri", ["test://other", f"{URI}/part", URI[:-1], URI.upper(), "*", ""])
async def test_a_subscription_is_to_one_uri(world: World, uri: str) -> None:
    stream = await listen(world)
    await world.subscriptions.announce(uri)
    assert await stream.look() == []
    await world.subscriptions.announce(URI)
    assert await stream.look() == [UPDATED]


async def test_who_did_not_subscribe_is_not_told(world: World) -> None:
    stream, other = await listen(world), hear(world, await begin_session(world))
    await other.look()
    await world.subscriptions.announce(URI)
    assert await other.look() == []
    assert await stream.look() == [UPDATED]


async def test_an_update_that_concerns_nobody_leaves_nothing(world: World) -> None:
    before = await world.dump()
    await world.subscriptions.announce(URI)
    assert await world.dump() == before


async def test_to_subscribe_twice_is_to_subscribe_once(world: World) -> None:
    stream = await listen(world, URI, URI)
    await world.subscriptions.announce(URI)
    assert await stream.look() == [UPDATED]
    await unsubscribe(world, stream.stream.session)
    await world.subscriptions.announce(URI)
    assert await stream.look() == []


async def test_who_unsubscribes_is_not_even_told_of_what_was(world: World) -> None:
    stream = await listen(world, URI, "test://b")
    await world.subscriptions.announce(URI)
    await world.subscriptions.announce("test://b")
    for _ in range(2):
        await unsubscribe(world, stream.stream.session)
    assert await stream.look() == [render_resource_updated("test://b")]
    assert not await world.redis.exists(world.keys.subscribers(URI))


async def test_to_unsubscribe_from_what_one_has_not_is_nothing(world: World) -> None:
    stream, other = await listen(world), await begin_session(world)
    await unsubscribe(world, other)
    await world.subscriptions.announce(URI)
    assert await stream.look() == [UPDATED]


# How it is told


async def test_one_stream_of_several_is_given_it(world: World) -> None:  # H-27, X-8
    first = await listen(world)
    streams = [first, *(hear(world, first.stream.session) for _ in range(3))]
    for stream in streams[1:]:
        await stream.look()
    for _ in range(10):
        announcing = asyncio.create_task(world.subscriptions.announce(URI))
        given = await asyncio.gather(*(stream.look() for stream in streams))
        await announcing
        given += [await stream.look() for stream in streams]
        assert [body for found in given for body in found] == [UPDATED]


async def test_open_streams_are_called(world: World) -> None:
    stream = await listen(world)
    async with world.listening(world.keys.session_events(stream.stream.session.id)) as heard:
        await world.subscriptions.announce(URI)
        assert await heard() == "message"
    await stream.look()


async def test_what_waits_to_be_told_is_not_told_twice(world: World) -> None:
    stream = await listen(world, URI, "test://b")
    for uri in (URI, "test://b", URI, URI, "test://b"):
        await world.subscriptions.announce(uri)
    assert await stream.look() == [UPDATED, render_resource_updated("test://b")]


async def test_a_client_that_lost_it_is_given_it_again(world: World) -> None:  # H-23
    stream = await listen(world, URI, "test://b")
    position = stream.position
    await world.subscriptions.announce(URI)
    await stream.look()
    middle = stream.position
    await world.subscriptions.announce("test://b")
    await stream.look()
    again = stream.resumed(position)
    assert await again.look() == [UPDATED, render_resource_updated("test://b")]
    assert again.positions == [middle, stream.position]
    assert await stream.resumed(middle).look() == [render_resource_updated("test://b")]


async def test_what_is_announced_while_a_client_comes_back_is_kept(world: World) -> None:
    stream = await listen(world)
    await stream.close()
    await world.subscriptions.announce(URI)
    assert await stream.resumed().look() == [UPDATED]


@pytest.mark.parametrize("was_there", [True, False])
async def test_what_nobody_hears_is_not_kept(world: World, was_there: bool) -> None:
    session = await begin_session(world)
    await subscribe(world, session)
    if was_there:
        stream = hear(world, session)
        await stream.look()
        await stream.close()
        assert await world.redis.pttl(world.keys.hearers(session.id)) <= STREAM_LEASE
        await world.redis.delete(world.keys.hearers(session.id))
    await world.subscriptions.announce(URI)
    assert not await world.redis.exists(world.keys.session_outbox(session.id))
    assert await hear(world, session).look() == []


async def test_it_waits_no_longer_than_its_session(world: World) -> None:
    stream = await listen(world)
    session = stream.stream.session
    await world.redis.pexpire(world.keys.session(session.id), 5_000)
    await world.subscriptions.announce(URI)
    assert 2_000 < await world.redis.pttl(world.keys.session_outbox(session.id)) <= 5_000


async def test_the_newest_are_kept(world: World) -> None:
    uris = [f"test://{number}" for number in range(300)]
    stream = await listen(world, *uris)
    for uri in uris:
        await world.subscriptions.announce(uri)
    assert await stream.look() == [render_resource_updated(uri) for uri in uris[300 - OUTBOX :]]


async def test_they_come_beside_what_tasks_say(world: World) -> None:
    """More at once than the log of a stream holds."""
    uris = [f"test://{number}" for number in range(OUTBOX)]
    stream = await listen(world, *uris)
    run = await world.start(session=stream.stream.session.id)
    said = [b"{%d}" % number for number in range(200)]
    await say(world, run, *said)
    for uri in uris:
        await world.subscriptions.announce(uri)
    assert await stream.look() == [render_resource_updated(uri) for uri in uris]
    assert await stream.look() == said
    await say(world, run, *said)
    for uri in uris:
        await world.subscriptions.announce(uri)
    again = stream.resumed("")  # who is given so much again is called to come for the rest
    async with world.listening(world.keys.session_events(stream.stream.session.id)) as heard:
        assert len(await again.look()) == OUTBOX + 200
        assert await heard() == "message"
    assert await again.look() == [render_resource_updated(uri) for uri in uris]
    assert await again.look() == said


# How long a subscription lasts


async def test_it_ends_with_its_session_and_not_before(world: World) -> None:
    session = await begin_session(world)
    await world.redis.pexpire(world.keys.session(session.id), round(SESSION_IDLE * 0.95))
    await subscribe(world, session)
    await subscribe(world, session, "test://b")
    end, *ends = await ends_of(world, world.keys.session(session.id), *keys_of(world, session, URI, "test://b"))
    assert are_one(world, end, *ends)


@pytest.mark.parametrize("is_stream", [False, True])
async def test_it_is_renewed_with_its_session(world: World, is_stream: bool) -> None:
    session = await begin_session(world)
    await subscribe(world, session, URI, "test://b")
    keys = [world.keys.session(session.id), *keys_of(world, session, URI, "test://b")]
    for key in keys:
        await world.redis.pexpire(key, SESSION_IDLE // 2)
    before = await world.now()
    if is_stream:
        await hear(world, session).look()
    else:
        await world.sessions.touch(by("ada", session.id))
    ends = await ends_of(world, *keys)
    assert before + SESSION_IDLE <= min(ends)
    assert are_one(world, *ends, *[await world.redis.zscore(key, session.id) for key in keys[2:]])


async def test_a_list_of_subscribers_lives_as_long_as_the_last_of_them(world: World) -> None:
    brief, lasting = await begin_session(world), await begin_session(world)
    await world.redis.pexpire(world.keys.session(brief.id), round(SESSION_IDLE * 0.91))
    subscribers = world.keys.subscribers(URI)
    for session in (lasting, brief):
        await subscribe(world, session)
    ends = await ends_of(world, subscribers, world.keys.session(lasting.id), world.keys.session(brief.id))
    assert are_one(world, ends[0], ends[1])
    assert ends[1] > ends[2]
    await unsubscribe(world, lasting)
    assert are_one(world, *await ends_of(world, subscribers), ends[2])


async def test_a_session_that_ends_leaves_nothing(world: World) -> None:
    stream, other = await listen(world, URI, "test://b"), await listen(world)
    session = stream.stream.session
    await world.subscriptions.announce(URI)
    assert await world.redis.exists(world.keys.session_outbox(session.id))
    await world.sessions.end(session)
    gone = [*keys_of(world, session, "test://b"), world.keys.session_outbox(session.id)]
    assert not await world.redis.exists(*gone)
    assert await world.members(world.keys.subscribers(URI)) == [other.stream.session.id]
    await stream.close()
    await world.subscriptions.announce(URI)
    assert not await world.redis.exists(*gone)


async def test_so_does_one_that_ends_for_another(world: World) -> None:
    session = await begin_session(world)
    await subscribe(world, session)
    await SessionStore(world.client, idle=SESSION_IDLE, cap=1).start(new_session(), {})
    assert not await world.redis.exists(*keys_of(world, session))


async def expire_session(world: World, session: Session) -> None:
    """Lets the time of a session be over."""
    past = await world.now() - 1
    for uri in await world.members(world.keys.subscribed(session.id)):
        await world.redis.zadd(world.keys.subscribers(uri), {session.id: past})
    await world.redis.delete(world.keys.session(session.id), world.keys.subscribed(session.id))


async def test_one_that_ended_by_itself_is_told_nothing(world: World) -> None:
    """Its stream may still be known, where streams outlive sessions."""
    stream = await listen(world)
    await world.redis.delete(world.keys.session(stream.stream.session.id))
    before = await world.dump()
    await world.subscriptions.announce(URI)
    assert await world.dump() == before


async def test_and_is_forgotten_when_others_subscribe(world: World) -> None:
    for _ in range(3):
        session = await begin_session(world)
        await subscribe(world, session)
        assert await world.members(world.keys.subscribers(URI)) == [session.id]
        await expire_session(world, session)


# How many there may be


def capped(world: World, limit: int) -> SubscriptionStore:
    return SubscriptionStore(world.client, limit=limit)


async def test_each_session_has_so_many_and_no_more(world: World) -> None:
    session, other = await begin_session(world), await begin_session(world)
    store, admission = capped(world, 2), by("ada", session.id)
    for uri in ("a", "b"):
        await store.subscribe(admission, uri)
    before = await world.dump()
    with pytest.raises(Refused, match="2 subscriptions are the limit") as refused:
        await store.subscribe(admission, "c")
    assert refused.value.data["reason"] == "too_many_subscriptions"
    assert set(await world.dump()) == set(before)
    await store.subscribe(admission, "b")
    await store.subscribe(by("ada", other.id), "c")
    await store.unsubscribe(admission, "a")
    await store.subscribe(admission, "c")
    assert sorted(await world.members(world.keys.subscribed(session.id))) == ["b", "c"]


# Sent twice


async def test_subscribed_again_when_the_reply_was_lost(world: World) -> None:
    session = await begin_session(world)
    async with world.losing_replies() as lossy:
        await capped(lossy, 1).subscribe(by("ada", session.id), URI)
    assert await world.members(world.keys.subscribed(session.id)) == [URI]


async def test_unsubscribed_again_when_the_reply_was_lost(world: World) -> None:
    session = await begin_session(world)
    await subscribe(world, session)
    async with world.losing_replies() as lossy:
        await unsubscribe(lossy, session)
    assert not await world.redis.exists(*keys_of(world, session))


async def test_announced_again_when_the_reply_was_lost(world: World) -> None:
    stream = await listen(world)
    async with world.losing_replies() as lossy:
        await lossy.subscriptions.announce(URI)
    assert await stream.look() == [UPDATED]
    assert await stream.look() == []


async def test_announced_again_when_it_was_told_meanwhile(world: World) -> None:
    stream = await listen(world)
    for given in ([UPDATED], []):
        assert await world.client.call("announce", URI, UPDATED, "nonce", 0, 10) == b"0"
        assert await stream.look() == given
    assert 0 < await world.redis.pttl(world.keys.announced("nonce")) <= 60_000


async def test_a_look_whose_reply_was_lost_gives_it_again(world: World) -> None:
    stream = await listen(world)
    await world.subscriptions.announce(URI)
    async with world.losing_replies() as lossy:
        assert await stream.look_over(lossy) == [UPDATED]
    assert await stream.look() == []


async def test_tasks_know_nothing_of_it(world: World) -> None:
    run = await world.start()
    before = await world.record(run.task_id)
    await listen(world)
    await world.subscriptions.announce(URI)
    assert await world.record(run.task_id) == before
    assert (await world.tasks.get(ADA, run.task_id)).status == "working"
