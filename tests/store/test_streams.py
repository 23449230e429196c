"""Streams: carried by one connection after another, and given exactly what was not given before."""

import asyncio

import pytest

from receiver.protocol.errors import TaskNotFound
from receiver.protocol.task_id import new_task_id
from receiver.store.streams import StreamGivenUp
from tests.store.clients import audience_of, begin_session, follow, hear, open_stream, say, start_call
from tests.store.world import STREAM_LEASE, World, finish

LOG = 512

KINDS = ["task", "call", "session"]
every_kind = pytest.mark.parametrize("kind", KINDS)


# A stream lives while it is renewed


@every_kind
async def test_a_stream_lives_for_its_lease(world: World, kind: str) -> None:
    _, stream = await open_stream(world, kind)
    for key in (world.keys.stream(stream.stream.id), audience_of(world, stream)):
        assert STREAM_LEASE - 5_000 < await world.redis.pttl(key) <= STREAM_LEASE
        await world.redis.pexpire(key, 1_000)
    await stream.look()
    for key in (world.keys.stream(stream.stream.id), audience_of(world, stream)):
        assert await world.redis.pttl(key) > STREAM_LEASE - 5_000


@every_kind
async def test_a_stream_whose_lease_ended_in_an_outage_goes_on(world: World, kind: str) -> None:
    run, stream = await open_stream(world, kind)
    await world.redis.delete(world.keys.stream(stream.stream.id), audience_of(world, stream))
    await stream.look()
    await say(world, run, b"{}")
    assert await stream.look() == [b"{}"]


@pytest.mark.parametrize("kind", ["task", "call"])
async def test_only_a_task_of_its_owner_is_followed(world: World, kind: str) -> None:  # T-89
    session, run = await begin_session(world), await world.start(owner="bob")
    call = await start_call(world, session)
    before = await world.dump()
    for task_id in (new_task_id(), run.task_id, call.task_id if kind == "task" else await world.create()):
        with pytest.raises(TaskNotFound):
            await follow(world, session, task_id, kind="call" if kind == "call" else "task").look()
    after = await world.dump()
    assert not {key for key in after.keys() - before.keys() if "stream" in key or "listeners" in key}
    assert [name for name in before if "listeners" in name and after.get(name) != before[name]] == []
    assert before.keys() <= after.keys()


async def test_a_task_that_expired_is_followed_no_more(world: World) -> None:
    run, stream = await open_stream(world, "task")
    await world.forget(run.task_id)
    with pytest.raises(TaskNotFound):
        await stream.look()


# A client that comes back


@every_kind
@pytest.mark.parametrize("heard", range(6))
async def test_a_client_is_given_exactly_the_rest(world: World, kind: str, heard: int) -> None:  # H-23
    run, stream = await open_stream(world, kind)
    said = [b"{%d}" % number for number in range(5)]
    await say(world, run, *said[:3])
    positions = ["", *(await stream.look() and stream.positions)]
    await say(world, run, *said[3:])
    await stream.look()
    positions += stream.positions
    await stream.close()
    assert await stream.resumed(positions[heard]).look() == said[heard:]


@every_kind
async def test_and_again_when_it_loses_that_one_too(world: World, kind: str) -> None:
    run, stream = await open_stream(world, kind)
    await say(world, run, b"{1}", b"{2}")
    await stream.look()
    second = stream.resumed("")
    await second.look()
    third = stream.resumed(second.positions[0])
    await say(world, run, b"{3}")
    assert await third.look() == [b"{2}", b"{3}"]
    assert await third.look() == []


@every_kind
async def test_what_is_another_streams_is_not_given(world: World, kind: str) -> None:  # H-24
    session = await begin_session(world)
    run, first = await open_stream(world, kind, session)
    _, second = await open_stream(world, kind, session)
    await say(world, run, b"{1}")
    given = first if await first.look() else second
    other = second if given is first else first
    await given.close()
    await other.close()
    assert await other.resumed("").look() == []


async def test_what_ended_meanwhile_is_told_at_once(world: World) -> None:
    run, stream = await open_stream(world, "call")
    await say(world, run, b"{1}")
    await stream.look()
    await stream.close()
    await say(world, run, b"{2}")
    await finish(world, run)
    again = stream.resumed()
    assert await again.look() == [b"{2}"]
    assert again.progress is not None
    assert again.progress.status == "completed"


@every_kind
async def test_the_log_holds_so_much_and_no_more(world: World, kind: str) -> None:
    run, stream = await open_stream(world, kind)
    for start in range(0, 600, 100):
        await say(world, run, *(b"{%d}" % number for number in range(start, start + 100)))
        await stream.look()
    log = world.keys.replay(stream.stream.id)
    assert await world.redis.xlen(log) == LOG
    assert 10 * STREAM_LEASE - 5_000 < await world.redis.pttl(log) <= 10 * STREAM_LEASE
    again, found = stream.resumed(""), []
    while given := await again.look():
        found += given
    assert found == [b"{%d}" % number for number in range(600 - LOG, 600)]


# The older connection


@every_kind
async def test_the_older_connection_is_given_nothing_more(world: World, kind: str) -> None:
    run, old = await open_stream(world, kind)
    new = old.resumed()
    await new.look()
    await say(world, run, b"{}")
    with pytest.raises(StreamGivenUp):
        await old.look()
    assert await new.look() == [b"{}"]


@every_kind
async def test_what_the_older_connection_took_last_is_not_lost(world: World, kind: str) -> None:
    """Its node noticed late that its client was gone."""
    run, old = await open_stream(world, kind)
    position = old.position
    await say(world, run, b"{1}")
    await old.look()
    new = old.resumed(position)
    await say(world, run, b"{2}")
    assert await new.look() == [b"{1}", b"{2}"]


@every_kind
async def test_the_late_end_of_the_older_connection_ends_nothing(world: World, kind: str) -> None:
    run, old = await open_stream(world, kind)
    new = old.resumed()
    await new.look()
    before = await world.dump()
    await old.close()
    assert await world.dump() == before
    await say(world, run, b"{}")
    assert await new.look() == [b"{}"]


@every_kind
async def test_the_older_connection_outlives_the_new_one_to_no_end(world: World, kind: str) -> None:
    run, old = await open_stream(world, kind)
    new = old.resumed()
    await new.look()
    await new.close()
    await say(world, run, b"{}")
    with pytest.raises(StreamGivenUp):
        await old.look()
    assert await old.resumed().look() == [b"{}"]


@every_kind
async def test_the_late_end_may_come_before_the_new_one_begins(world: World, kind: str) -> None:
    run, old = await open_stream(world, kind)
    new = old.resumed()
    await old.close()
    await say(world, run, b"{}")
    assert await new.look() == [b"{}"]
    await old.close()
    assert await world.redis.exists(world.keys.stream(new.stream.id))


@every_kind
async def test_of_two_connections_at_the_same_time_one_goes_on(world: World, kind: str) -> None:
    run, old = await open_stream(world, kind)
    await say(world, run, *(b"{%d}" % number for number in range(50)))
    results = await asyncio.gather(
        old.look(), *(old.resumed("").look() for _ in range(4)), old.look(), return_exceptions=True
    )
    assert all(isinstance(result, list | StreamGivenUp) for result in results)
    assert await old.resumed("").look() == [b"{%d}" % number for number in range(50)]


# The end


@every_kind
async def test_the_end_of_a_stream(world: World, kind: str) -> None:
    _, stream = await open_stream(world, kind)
    await stream.close()
    assert not await world.redis.exists(world.keys.stream(stream.stream.id))
    assert await world.members(audience_of(world, stream)) == ["left"]
    if kind == "task":
        assert not await world.redis.exists(world.keys.requests(stream.stream.session.id))


@every_kind
async def test_a_stream_that_left_does_not_hide_one_that_is_open(world: World, kind: str) -> None:
    session = await begin_session(world)
    run, first = await open_stream(world, kind, session)
    if kind == "session":
        second = hear(world, session)
    else:
        second = follow(world, session, run.task_id, kind="call" if kind == "call" else "task")
    await second.look()
    await first.close()
    own = hear(world, session)
    await own.look()
    await say(world, run, b"{}")
    assert (await own.look() == []) == (kind != "session")
    assert len(await second.look()) == (kind != "session")


@every_kind
async def test_the_end_sent_again_when_its_reply_was_lost(world: World, kind: str) -> None:
    run, stream = await open_stream(world, kind)
    async with world.losing_replies() as lossy:
        await lossy.streams.close(stream.stream, "" if kind == "session" else run.task_id)
    assert await world.members(audience_of(world, stream)) == ["left"]


async def test_the_end_of_a_stream_leaves_a_newer_request_of_its_id_alone(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    old, new = (follow(world, session, run.task_id, request=b"1") for _ in range(2))
    await old.look()
    await new.look()
    await old.close()
    assert await world.sessions.cancel_request(session, b"1")
    with pytest.raises(StreamGivenUp):
        await new.look()


# Sent twice


@every_kind
async def test_a_look_whose_reply_was_lost_gives_the_same_again(world: World, kind: str) -> None:
    run, stream = await open_stream(world, kind)
    await say(world, run, b"{1}", b"{2}")
    async with world.losing_replies() as lossy:
        assert await stream.look_over(lossy) == [b"{1}", b"{2}"]
    await say(world, run, b"{3}")
    assert await stream.look() == [b"{3}"]


@every_kind
async def test_a_return_whose_reply_was_lost_gives_the_same_again(world: World, kind: str) -> None:
    run, stream = await open_stream(world, kind)
    await say(world, run, b"{1}")
    await stream.look()
    position = stream.position
    await say(world, run, b"{2}", b"{3}")
    again = stream.resumed(position)
    async with world.losing_replies() as lossy:
        assert await again.look_over(lossy) == [b"{2}", b"{3}"]
    assert await again.look() == []
