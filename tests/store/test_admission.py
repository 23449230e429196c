"""Admission: what a request must be to be served, decided in the script that serves it."""

from collections.abc import Awaitable, Callable

import pytest

from receiver.protocol.errors import Refused, SessionEnded, TaskNotFound
from receiver.store.admission import Admission, RateLimit
from receiver.store.tasks import TaskStore
from tests.store.backends import on_real_servers
from tests.store.clients import begin_session, new_session
from tests.store.world import ADA, SESSION_IDLE, World, by, new_task

Request = Callable[[World, Admission, str], Awaitable[object]]

REQUESTS: dict[str, Request] = {
    "create": lambda world, admission, _: world.tasks.create(admission, new_task("ada")),
    "get": lambda world, admission, task_id: world.tasks.get(admission, task_id),
    "get_progress": lambda world, admission, task_id: world.tasks.get_progress(admission, task_id),
    "cancel": lambda world, admission, task_id: world.tasks.cancel(admission, task_id, ""),
    "list_page": lambda world, admission, _: world.tasks.list_page(admission, 10, None),
    "touch": lambda world, admission, _: world.sessions.touch(admission),
    "show_list": lambda world, admission, _: world.sessions.show_list(admission, "tools", "1"),
    "subscribe": lambda world, admission, _: world.subscriptions.subscribe(admission, "test://a"),
    "unsubscribe": lambda world, admission, _: world.subscriptions.unsubscribe(admission, "test://a"),
    "set_log_level": lambda world, admission, _: world.sessions.set_log_level(admission, "error"),
}
every_request = pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)


# Sessions


@every_request
async def test_a_living_session_of_its_requestor_is_served(world: World, request_: Request) -> None:
    session = await begin_session(world)
    await request_(world, by("ada", session.id), await world.create())


@every_request
async def test_any_other_session_is_not_and_nothing_is_written(world: World, request_: Request) -> None:  # H-30, S-01
    task_id = await world.create()
    ended, foreign = await begin_session(world), await begin_session(world, "bob")
    await world.sessions.end(ended)
    before = await world.dump()
    for session in (ended, foreign, new_session()):
        with pytest.raises(SessionEnded):
            await request_(world, by("ada", session.id), task_id)
    assert await world.dump() == before


async def lives_until(world: World, *keys: str) -> list[int]:
    return [await world.redis.pexpiretime(key) for key in keys]


async def test_a_session_is_renewed_when_a_tenth_of_its_idle_time_is_over(world: World) -> None:
    session = await begin_session(world)
    keys = [world.keys.session(session.id), world.keys.requests(session.id), world.keys.talking(session.id)]
    await world.redis.hset(keys[1], "1", "x/y")
    await world.redis.sadd(keys[2], "0-1")
    for key in keys:
        await world.redis.pexpire(key, round(SESSION_IDLE * 0.89))
    before = await world.now()
    await world.sessions.touch(by("ada", session.id))
    ends = await lives_until(world, *keys, world.keys.sessions("ada"))
    assert before + SESSION_IDLE <= min(ends) <= max(ends) <= await world.now() + SESSION_IDLE


async def test_and_not_before(world: World) -> None:
    session = await begin_session(world)
    key = world.keys.session(session.id)
    await world.redis.pexpire(key, round(SESSION_IDLE * 0.95))
    before = await lives_until(world, key)
    await world.sessions.touch(by("ada", session.id))
    assert await lives_until(world, key) == before


async def test_each_request_is_a_sign_of_life(world: World) -> None:
    session = await begin_session(world)
    await world.redis.zadd(world.keys.sessions("ada"), {session.id: 1})
    before = await world.now()
    await world.sessions.touch(by("ada", session.id))
    assert await world.redis.zscore(world.keys.sessions("ada"), session.id) >= before


# Rates


async def early_window(world: World) -> int:
    """A window that began with the epoch, and of which a quarter is over."""
    return await world.now() * 4


async def is_admitted(world: World, admission: Admission) -> bool:
    try:
        await world.sessions.touch(admission)
    except Refused:
        return False
    return True


async def wait_told(world: World, admission: Admission) -> int:
    """How long a request that is refused is told to wait."""
    with pytest.raises(Refused) as refused:
        await world.sessions.touch(admission)
    assert refused.value.data["reason"] == "rate_limited"  # T-91
    return int(refused.value.data["retryAfterMs"])


async def test_so_many_are_admitted_in_a_window(world: World) -> None:
    admission = by("ada", limit=RateLimit(3, await early_window(world)))
    assert [await is_admitted(world, admission) for _ in range(5)] == [True, True, True, False, False]


async def test_each_kind_of_request_and_each_requestor_is_counted_apart(world: World) -> None:
    limit = RateLimit(1, await early_window(world))
    for options in ({}, {"operation": "ping"}, {"requestor": "s1"}, {"requestor": "s1", "operation": "ping"}):
        admission = by("ada", limit=limit, **options)
        assert [await is_admitted(world, admission) for _ in range(2)] == [True, False]


async def test_a_limit_of_none_admits_any_number_and_counts_nothing(world: World) -> None:
    for _ in range(20):
        assert await is_admitted(world, by("ada", limit=RateLimit(0, 1)))
    assert await world.dump() == {}


@every_request
async def test_what_is_refused_writes_nothing(world: World, request_: Request) -> None:
    session, task_id = await begin_session(world), await world.create()
    admission = by("ada", session.id, limit=RateLimit(1, await early_window(world)))
    await world.sessions.touch(admission)
    await world.redis.zadd(world.keys.sessions("ada"), {session.id: await world.now() + 60_000})  # a ZADD less to see
    before = await world.dump()
    with pytest.raises(Refused):
        await request_(world, admission, task_id)
    after = await world.dump()
    assert after.pop(world.keys.sessions("ada")) != before.pop(world.keys.sessions("ada"))  # it was a sign of life
    assert after == before


async def test_the_window_before_counts_in_proportion(world: World) -> None:
    window = await early_window(world)
    await world.redis.set(world.keys.rate("ada::-1"), 100, px=window)
    admission = by("ada", limit=RateLimit(100, window))
    admitted = [await is_admitted(world, admission) for _ in range(27)]  # three quarters of it weigh 75
    assert admitted == [True] * 25 + [False] * 2


async def test_who_asks_too_often_is_told_when_to_come_back(world: World) -> None:
    window = await early_window(world)
    await world.redis.set(world.keys.rate("ada::-1"), 100, px=window)
    await world.redis.set(world.keys.rate("ada::0"), 25, px=window)
    wait = await wait_told(world, by("ada", limit=RateLimit(100, window)))
    passed = (await world.now() + wait) / window
    assert 25 + 1 + 100 * (1 - passed) <= 100
    assert 25 + 1 + 100 * (1 - passed + 0.001) > 100


async def test_the_time_to_come_back_may_lie_in_the_next_window(world: World) -> None:
    window = await early_window(world)
    await world.redis.set(world.keys.rate("ada::0"), 100, px=window)
    wait = await wait_told(world, by("ada", limit=RateLimit(100, window)))
    passed = (await world.now() + wait) / window - 1
    assert 1 + 100 * (1 - passed) <= 100
    assert 1 + 100 * (1 - passed + 0.001) > 100


async def test_a_limit_of_one(world: World) -> None:
    window = await early_window(world)
    admission = by("ada", limit=RateLimit(1, window))
    assert await is_admitted(world, admission)
    wait = await wait_told(world, admission)
    assert await world.now() + wait >= 2 * window


async def test_counters_go_away(world: World) -> None:
    await is_admitted(world, by("ada", limit=RateLimit(5, 60_000)))
    (key,) = await world.dump()
    assert 60_000 < await world.redis.pttl(key) <= 120_000


@on_real_servers
async def test_a_create_whose_reply_was_lost_is_not_refused_for_itself(world: World) -> None:
    task, limit = new_task(), RateLimit(1, await early_window(world))
    async with world.losing_replies() as lossy:
        created_at = await lossy.tasks.create(by("ada", limit=limit), task)
    assert (await world.tasks.get(ADA, task.id)).created_at == created_at


# Look-ups that find nothing


async def test_who_guesses_ids_is_slowed_down(world: World) -> None:
    tasks = TaskStore(world.client, task_limit=10, queue_limit=10, misses=RateLimit(3, 60_000))
    theirs, mine = await world.create("bob"), await world.create("ada")
    for task_id in ("x", theirs, 7):
        with pytest.raises(TaskNotFound):
            await tasks.get(ADA, task_id)
    for task_id in ("x", theirs):
        with pytest.raises(Refused) as refused:
            await tasks.get_progress(ADA, task_id)
        assert refused.value.data["reason"] == "rate_limited"
        assert 0 < refused.value.data["retryAfterMs"] <= 60_000
    assert (await tasks.get(ADA, mine)).id == mine
    assert (await tasks.cancel(ADA, mine, "")).id == mine
    with pytest.raises(TaskNotFound):
        await tasks.cancel(by("eve"), mine, "")


async def test_a_miss_is_one_request(world: World) -> None:
    tasks = TaskStore(world.client, task_limit=10, queue_limit=10, misses=RateLimit(10, 60_000))
    admission = by("ada", limit=RateLimit(3, await early_window(world)))
    theirs = await world.create("bob")
    for _ in range(3):
        with pytest.raises(TaskNotFound):
            await tasks.get(admission, theirs)
    assert not await is_admitted(world, admission)
