"""Renewal: streams on which nothing is said live on without a look, and all others are told to look."""

from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from receiver import renewal
from receiver.renewal import Renewals
from receiver.store.record import ClaimedRun
from receiver.store.streams import Stream, StreamStore
from tests.store.clients import Connection, ask, audience_of, begin_session, hear, open_stream, say
from tests.store.world import SESSION_IDLE, STREAM_LEASE, World, by, finish, until

KINDS = ["task", "call", "session"]
every_kind = pytest.mark.parametrize("kind", KINDS)


async def must_look(world: World, *streams: Connection) -> list[bool]:
    """Which of these have to look, when all are renewed."""
    found = await world.streams.renew([(stream.stream, stream.task_id) for stream in streams])
    return [stream.stream.id in found for stream in streams]


def keys_of(world: World, stream: Connection) -> list[str]:
    return [world.keys.stream(stream.stream.id), audience_of(world, stream)]


@every_kind
async def test_a_stream_on_which_nothing_is_said_lives_on(world: World, kind: str) -> None:
    _, stream = await open_stream(world, kind)
    for key in keys_of(world, stream):
        await world.redis.pexpire(key, 1_000)
    assert await must_look(world, stream) == [False]
    for key in keys_of(world, stream):
        assert await world.redis.pttl(key) > STREAM_LEASE - 5_000
    heard = keys_of(world, stream)[1]
    assert await world.redis.zscore(heard, stream.stream.id) > await world.now() + STREAM_LEASE - 5_000


@every_kind
async def test_its_session_lives_on_too(world: World, kind: str) -> None:
    _, stream = await open_stream(world, kind)
    key = world.keys.session(stream.stream.session.id)
    await world.redis.pexpire(key, SESSION_IDLE // 2)
    await must_look(world, stream)
    assert await world.redis.pttl(key) > SESSION_IDLE * 0.9


async def test_those_of_many_sessions_are_told_apart(world: World) -> None:
    opened = [await open_stream(world, kind) for kind in KINDS for _ in range(3)]
    for run, _ in opened[::2]:
        await say(world, run, b"{}")
    assert await must_look(world, *(stream for _, stream in opened)) == [True, False] * 4 + [True]
    for place, (_, stream) in enumerate(opened):
        assert (await stream.look() == [b"{}"]) == (place % 2 == 0)
    assert await must_look(world, *(stream for _, stream in opened[:6])) == [False] * 6


async def test_what_a_node_does_not_have_is_not_renewed(world: World) -> None:
    before = await world.dump()
    assert await world.streams.renew([]) == set()
    assert await world.dump() == before


# What makes a stream look


Happening = Callable[[World, ClaimedRun, Connection], Awaitable[object]]

HAPPENINGS: dict[str, Happening] = {
    "something is said": lambda world, run, _: say(world, run, b"{}"),
    "a question is asked": lambda world, run, _: ask(world, run),
    "the stream is lost": lambda world, _, stream: world.redis.delete(world.keys.stream(stream.stream.id)),
    "another connection takes over": lambda _, __, stream: stream.resumed().look(),
    "a resource is updated": lambda world, _, stream: letter(world, stream),
}
OF_A_TASK: dict[str, Happening] = {
    "it ends": lambda world, run, _: finish(world, run),
    "it expires": lambda world, run, _: world.forget(run.task_id),
    "the request is cancelled": lambda world, _, stream: world.sessions.cancel_request(
        stream.stream.session, stream.stream.request
    ),
}


async def letter(world: World, stream: Connection) -> None:
    """What is for this session alone waits for its next stream."""
    outbox = world.keys.session_outbox(stream.stream.session.id)
    await world.redis.rpush(outbox, "\n{}")
    await world.redis.pexpire(outbox, STREAM_LEASE)


@every_kind
@pytest.mark.parametrize("what", HAPPENINGS)
async def test_it_looks_when(world: World, kind: str, what: str) -> None:
    run, stream = await open_stream(world, kind)
    await HAPPENINGS[what](world, run, stream)
    assert await must_look(world, stream) == [True]


@pytest.mark.parametrize("kind", KINDS[:2])
@pytest.mark.parametrize("what", OF_A_TASK)
@pytest.mark.parametrize("listens", [True, False])
async def test_a_stream_of_a_task_looks_when(world: World, kind: str, what: str, listens: bool) -> None:
    run, stream = await open_stream(world, kind, listens=listens)
    await OF_A_TASK[what](world, run, stream)
    before = await world.dump()
    assert await must_look(world, stream) == [True]
    assert (await world.dump()).keys() == before.keys()


async def test_a_stream_that_takes_no_messages_does_not_look_for_them(world: World) -> None:
    run, stream = await open_stream(world, "task", listens=False)
    own = hear(world, stream.stream.session)
    await own.look()
    await say(world, run, b"{}")
    assert await must_look(world, stream, own) == [False, True]
    assert not await world.redis.exists(world.keys.listeners(run.task_id))


async def test_a_stream_of_a_session_looks_when_the_session_ended(world: World) -> None:
    _, stream = await open_stream(world, "session")
    await world.sessions.end(stream.stream.session)
    assert await must_look(world, stream) == [True]


@pytest.mark.parametrize("listed", [["tools"], ["tools", "prompts"]])
async def test_a_stream_of_a_session_looks_where_a_list_is_new(world: World, listed: list[str]) -> None:
    _, stream = await open_stream(world, "session")
    session = stream.stream.session

    async def looks(digest: str) -> bool:
        lists = dict.fromkeys(listed[:-1], "1") | {listed[-1]: digest}
        node = StreamStore(world.client, lease=STREAM_LEASE, session_idle=SESSION_IDLE, lists=lists)
        is_calling = bool(await node.renew([(stream.stream, "")]))
        if is_calling:
            await node.hear(stream.stream, stream.position, begins=False)
        return is_calling

    for kind in listed:
        await world.sessions.show_list(by(session.owner, session.id), kind, "1")
    assert [await looks(digest) for digest in ("1", "2", "2", "1")] == [False, True, False, False]


# Who sees to it


class Feed:
    """Stands for one: counts how often it was called."""

    def __init__(self, stream: Connection) -> None:
        self.stream: Stream = stream.stream
        self.task_id = stream.task_id
        self.calls = 0

    def call(self) -> None:
        """It has to look."""
        self.calls += 1


async def test_all_are_renewed_again_and_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renewal, "BATCH", 2)
    session = await begin_session(world)
    streams = [(await open_stream(world, "task", session))[1] for _ in range(5)]
    feeds, renewals = [Feed(stream) for stream in streams], Renewals(world.streams, seconds=0)
    for feed in feeds:
        renewals.note(feed)
    for _ in range(2):
        for stream in streams:
            await world.redis.delete(keys_of(world, stream)[1])
        for stream in streams:
            await until(partial(world.redis.exists, keys_of(world, stream)[1]))
    assert [feed.calls for feed in feeds] == [0] * 5
    await world.redis.delete(keys_of(world, streams[3])[0])
    await until(lambda: feeds[3].calls > 0)
    for feed in feeds:
        renewals.drop(feed)
    await until(lambda: renewals._actor is not None and renewals._actor.done())
    renewals.note(feeds[0])
    await world.redis.delete(keys_of(world, streams[0])[1])
    await until(lambda: world.redis.exists(keys_of(world, streams[0])[1]))
    await renewals.stop()


async def test_an_error_is_not_the_end_of_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    _, stream = await open_stream(world, "task")
    feed, renewals, failures = Feed(stream), Renewals(world.streams, seconds=0), 0
    renew = world.streams.renew

    async def fail_twice(streams: list[tuple[Stream, str]]) -> set[str]:
        nonlocal failures
        failures += 1
        if failures < 3:
            raise RuntimeError("no")
        return await renew(streams)

    monkeypatch.setattr(world.streams, "renew", fail_twice)
    await world.redis.delete(keys_of(world, stream)[0])
    renewals.note(feed)
    await until(lambda: feed.calls > 0)
    await renewals.stop()
