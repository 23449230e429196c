"""What a run says: each message goes out on one stream alone, in order, and waits only for who will hear it."""

import asyncio
from collections import Counter

import pytest

from receiver.store.runs import Notice, Verdict
from receiver.store.streams import CLOSE
from tests.store.clients import Connection, begin_session, follow, hear, say, start_call
from tests.store.world import STREAM_LEASE, TTL, World

OUTBOX = 256
COMING_MS = 10_000


async def leave_for_good(world: World, task_id: str, *connections: Connection) -> None:
    """Closes streams of a task, and lets the time be over in which their clients might come back."""
    for connection in connections:
        await connection.close()
    await world.redis.delete(world.keys.listeners(task_id))


# Who hears it


async def test_a_stream_of_the_task_is_given_all_in_order_and_once(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    stream = follow(world, session, run.task_id)
    assert await stream.look() == []
    await say(world, run, b"{1}", b"{2}")
    await say(world, run, b"{3}")
    assert await stream.look() == [b"{1}", b"{2}", b"{3}"]
    assert await stream.look() == []
    await say(world, run, b"{4}")
    assert await stream.look() == [b"{4}"]


async def test_a_stream_of_the_session_hears_all_its_tasks(world: World) -> None:
    session = await begin_session(world)
    own = hear(world, session)
    await own.look()
    runs = [await world.start(session=session.id), await start_call(world, session)]
    await follow(world, session, runs[1].task_id, kind="call", listens=False).look()
    for number, run in enumerate(runs):
        await say(world, run, b"{%d}" % number)
    assert sorted(await own.look()) == [b"{0}", b"{1}"]
    assert await own.look() == []
    assert await world.members(world.keys.talking(session.id)) == []


async def test_a_stream_of_the_task_comes_before_one_of_the_session(world: World) -> None:  # H-27
    session = await begin_session(world)
    run = await world.start(session=session.id)
    own, stream = hear(world, session), follow(world, session, run.task_id)
    await own.look()
    await stream.look()
    await say(world, run, b"{}")
    assert await own.look() == []
    assert await stream.look() == [b"{}"]


async def test_the_stream_of_a_call_comes_before_one_of_the_session_though_it_opens_later(world: World) -> None:  # H-16
    session = await begin_session(world)
    own = hear(world, session)
    await own.look()
    run = await start_call(world, session)
    await say(world, run, b"{}")
    assert await own.look() == []
    assert await follow(world, session, run.task_id, kind="call").look() == [b"{}"]


async def test_a_call_whose_client_takes_no_messages_is_heard_by_the_session_at_once(world: World) -> None:
    session = await begin_session(world)
    own = hear(world, session)
    await own.look()
    run = await start_call(world, session)
    await say(world, run, b"{}")
    async with world.listening(world.keys.session_events(session.id)) as heard:
        await follow(world, session, run.task_id, kind="call", listens=False).look()
        assert await heard() == "message"
    assert await own.look() == [b"{}"]


async def test_a_call_whose_stream_never_opens_is_heard_by_the_session_in_the_end(world: World) -> None:
    session = await begin_session(world)
    own = hear(world, session)
    await own.look()
    run = await start_call(world, session)
    await say(world, run, b"{}")
    assert 0 < await world.redis.pttl(world.keys.listeners(run.task_id)) <= COMING_MS
    await world.redis.delete(world.keys.listeners(run.task_id))
    assert await own.look() == [b"{}"]


async def test_what_a_call_says_while_its_client_was_sent_away_waits_for_it(world: World) -> None:
    session = await begin_session(world)
    own = hear(world, session)
    await own.look()
    run = await start_call(world, session)
    stream = follow(world, session, run.task_id, kind="call")
    await stream.look()
    await say(world, run, b"{1}", CLOSE, b"{2}")
    assert await stream.look() == [b"{1}", b"", b"{2}"]
    sent_away = stream.resumed(stream.positions[1])
    await stream.close()
    await say(world, run, b"{3}")
    assert await own.look() == []
    assert await sent_away.look() == [b"{2}", b"{3}"]
    await sent_away.close()
    await say(world, run, b"{4}")
    assert await own.look() == [b"{4}"]


async def test_what_a_stream_that_ended_left_behind_is_heard_by_the_session(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    own, stream = hear(world, session), follow(world, session, run.task_id)
    await own.look()
    await stream.look()
    await say(world, run, b"{}")
    async with world.listening(world.keys.session_events(session.id)) as heard:
        await stream.close()
        assert await heard() == "message"
    assert await own.look() == [b"{}"]


async def test_what_a_stream_left_behind_whose_node_died_is_heard_too(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    own, stream = hear(world, session), follow(world, session, run.task_id)
    await own.look()
    await stream.look()
    await say(world, run, b"{}")
    await world.redis.zadd(world.keys.listeners(run.task_id), {stream.stream.id: await world.now() - 1})
    assert await own.look() == [b"{}"]


async def test_another_session_hears_nothing(world: World) -> None:
    session, other = await begin_session(world), await begin_session(world)
    own, strange = hear(world, session), hear(world, other)
    run = await world.start(session=session.id)
    for stream in (own, strange):
        await stream.look()
    await say(world, run, b"{}")
    assert await strange.look() == []
    assert await own.look() == [b"{}"]


async def test_a_stream_of_the_task_may_be_of_another_session(world: World) -> None:
    """As that of a client that lost its session."""
    session, newer = await begin_session(world), await begin_session(world)
    run = await world.start(session=session.id)
    stream = follow(world, newer, run.task_id)
    await stream.look()
    await say(world, run, b"{}")
    assert await stream.look() == [b"{}"]
    assert await world.members(world.keys.talking(session.id)) == []


@pytest.mark.parametrize("open_stream", [hear, follow])
async def test_streams_of_two_nodes_share_what_is_said(world: World, open_stream: object) -> None:  # H-27, X-8
    session = await begin_session(world)
    run = await world.start(session=session.id)
    streams = [hear(world, session) if open_stream is hear else follow(world, session, run.task_id) for _ in range(4)]
    for stream in streams:
        await stream.look()
    given: Counter[bytes] = Counter()
    for number in range(20):
        said = [b"{%d}" % count for count in range(10 * number, 10 * number + 10)]
        saying = asyncio.create_task(say(world, run, *said))
        for found in await asyncio.gather(*(stream.look() for stream in streams)):
            given.update(found)
        await saying
    for stream in streams:
        given.update(await stream.look())
    assert given == Counter({b"{%d}" % number: 1 for number in range(200)})


async def test_a_stream_that_takes_no_messages_leaves_them_to_others(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    deaf, own = follow(world, session, run.task_id, listens=False), hear(world, session)
    await own.look()
    await deaf.look()
    await say(world, run, b"{}")
    assert await deaf.look() == []
    assert await own.look() == [b"{}"]


async def test_streams_of_the_session_are_called_when_one_of_them_ends(world: World) -> None:
    session = await begin_session(world)
    own = hear(world, session)
    await own.look()
    async with world.listening(world.keys.session_events(session.id)) as heard:
        await own.close()
        assert await heard() == "message"


# What waits, and for how long


async def test_what_nobody_hears_is_not_kept(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    assert await say(world, run, b"{}") is Verdict.DONE
    assert not await world.redis.exists(world.keys.outbox(run.task_id), world.keys.talking(session.id))
    assert await follow(world, session, run.task_id).look() == []


async def test_what_a_plain_call_says_before_its_stream_begins_is_kept(world: World) -> None:
    session = await begin_session(world)
    run = await start_call(world, session)
    await say(world, run, b"{1}", b"{2}")
    assert await follow(world, session, run.task_id, kind="call").look() == [b"{1}", b"{2}"]


@pytest.mark.parametrize("is_call", [True, False])
async def test_what_is_said_while_a_client_comes_back_is_kept(world: World, is_call: bool) -> None:
    session = await begin_session(world)
    run = await (start_call(world, session) if is_call else world.start(session=session.id))
    stream = follow(world, session, run.task_id, kind="call" if is_call else "task")
    await stream.look()
    await stream.close()
    await say(world, run, b"{}")
    assert await stream.resumed().look() == [b"{}"]


async def test_what_is_said_while_a_client_comes_back_to_its_session_is_kept(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    own = hear(world, session)
    await own.look()
    await own.close()
    await say(world, run, b"{}")
    assert await own.resumed().look() == [b"{}"]


async def test_and_not_after_that(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    stream = follow(world, session, run.task_id)
    await stream.look()
    await stream.close()
    assert await world.redis.pttl(world.keys.listeners(run.task_id)) <= STREAM_LEASE
    await leave_for_good(world, run.task_id)
    await say(world, run, b"{}")
    assert await stream.resumed().look() == []


async def test_the_newest_are_kept(world: World) -> None:
    session = await begin_session(world)
    run = await start_call(world, session)
    for start in range(0, 300, 100):
        await say(world, run, *(b"{%d}" % number for number in range(start, start + 100)))
    found = await follow(world, session, run.task_id, kind="call").look()
    assert found == [b"{%d}" % number for number in range(300 - OUTBOX, 300)]


@pytest.mark.parametrize(("ttl", "most"), [(TTL * 10, 60_000), (5_000, 5_000)])
async def test_they_wait_a_minute_and_no_longer_than_the_task(world: World, ttl: int, most: int) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id, ttl=ttl)
    await follow(world, session, run.task_id).look()
    await say(world, run, b"{}")
    assert most - 3_000 < await world.redis.pttl(world.keys.outbox(run.task_id)) <= most


@pytest.mark.parametrize("is_lost", [False, True])
async def test_a_session_is_given_all_of_many_tasks(world: World, is_lost: bool) -> None:
    """More at once than the log of a stream holds."""
    session = await begin_session(world)
    own = hear(world, session)
    await own.look()
    runs = [await world.start(session=session.id) for _ in range(4)]
    for run in runs:
        await say(world, run, *(b"{%b,%d}" % (run.task_id.encode(), number) for number in range(200)))
    found: list[bytes] = []
    if is_lost:
        async with world.losing_replies() as lossy:
            found += await own.look_over(lossy)
    async with world.listening(world.keys.session_events(session.id)) as heard:
        while len(found) < 800:
            given = await own.look()
            assert given, "a stream of the session was not given all"
            assert len(found) + len(given) == 800 or await heard() == "message"
            found += given
    assert Counter(found) == Counter({b"{%b,%d}" % (r.task_id.encode(), n): 1 for r in runs for n in range(200)})
    assert await own.look() == []


# Sent twice


async def test_a_report_whose_reply_was_lost_says_it_once(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    stream = follow(world, session, run.task_id)
    await stream.look()
    async with world.losing_replies() as lossy:
        notices = [Notice(b"{1}"), Notice(b"{2}")]
        verdict = await lossy.runs.report(run.task_id, run.run, {"status_message": "half"}, notices)
    assert verdict is Verdict.DONE
    status, *said = await stream.look()
    assert b'"half"' in status
    assert said == [b"{1}", b"{2}"]


async def test_the_same_said_again_is_said_again(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    stream = follow(world, session, run.task_id)
    await stream.look()
    for _ in range(2):
        await say(world, run, b"{}")
    assert await stream.look() == [b"{}", b"{}"]


async def test_an_older_run_says_nothing(world: World) -> None:
    session = await begin_session(world)
    old = await world.start(session=session.id)
    stream = follow(world, session, old.task_id)
    await stream.look()
    await world.lose_lease(old.task_id)
    await world.claim_one("w2")
    assert await say(world, old, b"{}") is Verdict.SUPERSEDED
    assert await stream.look() == []
