"""The audit trail in the store: what scripts append to it, once, and how it is read."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from receiver.protocol.errors import TaskAlreadyFinished, TaskNotFound
from receiver.protocol.task_id import new_task_id
from receiver.store.audit import AuditTrail, Wanted
from receiver.store.client import Client
from receiver.store.scripts import load
from receiver.store.tasks import TaskStore
from receiver.telemetry.audit import STORED, Entry, Event, operator
from tests.store.asked import THEIRS, begin
from tests.store.backends import on_real_servers
from tests.store.clients import ANSWER, ask, begin_session, follow, start_call
from tests.store.world import DONE, FAILED, QUEUE_LIMIT, TASK_LIMIT, World, by, finish, new_task

NOBODY = ("", "", "", "", "", "", "", "")


async def read(world: World, **wanted: str) -> list[Event]:
    """All events, oldest first."""
    page = await AuditTrail(world.client).page(limit=1000, wanted=Wanted(**wanted))
    assert page.before is None
    return [entry.event for entry in reversed(page.entries)]


def shape(event: Event) -> tuple[str, ...]:
    return event.by, event.operation, event.who, event.label, event.outcome, event.detail


async def fill(world: World, count: int, **about: str) -> None:
    """So many events, of the tasks 0 and on."""
    trail = AuditTrail(world.client)
    events = [(*Event(owner="ada", task=str(number), **about), 1, 0) for number in range(count)]
    await trail.append(new_task_id(), 1, events)


async def test_a_life(world: World) -> None:
    """T-98, T-99: each step with who took it, from where, and what of."""
    task = new_task()
    await world.tasks.create(by("ada", operation="tools/call"), task)
    run = await world.claim_one("w1")
    await finish(world, run, FAILED)
    created, finished = await read(world)
    assert shape(created) == ("client", "tools/call", "ada", "task:draw", "success", "")
    assert shape(finished) == ("worker", "finish", "w1", "task:draw", "failure", "failed")
    assert {event.owner for event in (created, finished)} == {"ada"}
    assert {event.task for event in (created, finished)} == {task.id}
    assert (created.address, created.request) == ("192.0.2.1", "1")


async def test_all_entries_have_the_same_fields(world: World) -> None:
    """So that their names are stored once for many."""
    run = await world.start()
    await finish(world, run)
    await fill(world, 2)
    entries = await world.redis.xrange(world.keys.audit())
    assert [tuple(name.decode() for name in fields) for _, fields in entries] == [STORED] * 4


async def test_a_cancelled_task_ends_once_by_who_cancelled_it(world: World) -> None:
    task_id = await world.create()
    await world.tasks.cancel(by("ada", operation="tasks/cancel"), task_id, "")
    with pytest.raises(TaskAlreadyFinished):
        await world.tasks.cancel(by("ada", operation="tasks/cancel"), task_id, "")
    assert [shape(event) for event in await read(world, operation="tasks/cancel")] == [
        ("client", "tasks/cancel", "ada", "task:draw", "success", "cancelled"),
        ("client", "tasks/cancel", "ada", "task:draw", "failure", "cancelled"),
    ]
    assert await read(world, operation="finish") == []


async def test_a_task_whose_workers_were_lost(world: World) -> None:
    run = await world.start("w1", max_attempts=1)
    await world.lose_lease(run.task_id)
    await world.recover()
    (finished,) = await read(world, operation="finish")
    assert (finished.who, finished.outcome, finished.detail) == ("w1", "failure", "failed")


async def test_a_foreign_task_is_denied(world: World) -> None:  # T-89
    theirs, unknown = await world.create("bob"), new_task_id()
    for task_id in (theirs, unknown):
        for operation in (world.tasks.get, world.tasks.get_progress):
            with pytest.raises(TaskNotFound):
                await operation(by("ada", operation="tasks/get"), task_id)
        with pytest.raises(TaskNotFound):
            await world.tasks.cancel(by("ada", operation="tasks/cancel"), task_id, "")
    denied = await read(world, outcome="denied")
    assert [(event.who, event.owner, event.task, event.detail) for event in denied] == [
        *[("ada", "ada", theirs, "foreign")] * 3,
        *[("ada", "ada", unknown, "unknown")] * 3,
    ]


async def test_a_plain_call_is_not_foreign_to_its_owner(world: World) -> None:
    call = await world.create(kind="call", queue="plain")
    with pytest.raises(TaskNotFound):
        await world.tasks.get(by("ada"), call)
    assert [event.detail for event in await read(world, outcome="denied")] == ["unknown"]


async def test_answers(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    question = await ask(world, run)
    await follow(world, session, run.task_id).look()
    caller = by("ada", operation="answer").caller
    for _ in range(2):
        assert await world.inputs.answer(question.request_id, session, ANSWER, caller)
    (answered,) = await read(world, operation="answer")
    assert (answered.task, answered.outcome, answered.detail) == (run.task_id, "success", "answered")


async def test_a_plain_call_that_is_not_wanted_any_more(world: World) -> None:
    session = await begin_session(world)
    run = await start_call(world, session, b"1")
    await follow(world, session, run.task_id, kind="call", request=b"1").look()
    caller = by("ada", operation="notifications/cancelled").caller
    assert await world.sessions.cancel_request(session, b"1", caller)
    (cancelled,) = await read(world, operation="notifications/cancelled")
    assert (cancelled.label, cancelled.detail) == ("call:draw", "cancelled")


async def test_a_client_that_answers_by_a_task(world: World) -> None:
    scene = await begin(world)
    caller = by("ada", operation="answer").caller
    for _ in range(2):
        assert await world.inputs.accept(scene.question.request_id, scene.session, THEIRS, caller)
    (accepted,) = await read(world, operation="answer")
    assert (accepted.task, accepted.outcome, accepted.detail) == (scene.run.task_id, "success", "accepted")


async def test_an_operator_acts_on_a_task_of_somebody(world: World) -> None:
    task_id = await world.create("ada")
    caller = operator("carol", "cancel")
    await world.tasks.cancel(replace(by("ada"), caller=caller), task_id, "")
    (cancelled,) = await read(world, operation="cancel")
    assert (cancelled.by, cancelled.who, cancelled.owner, cancelled.detail) == ("operator", "carol", "ada", "cancelled")


@pytest.mark.parametrize("call", ["create", "get", "cancel", "cancel again", "finish", "append"])
async def test_sent_again_when_its_reply_was_lost(world: World, call: str) -> None:
    """Each is noted once."""
    task = new_task()
    run = await world.start()
    if call == "cancel again":
        await world.tasks.cancel(by("ada"), run.task_id, "")
    before = len(await read(world))
    async with world.losing_replies() as lossy:
        if call == "create":
            await lossy.tasks.create(by("ada"), task)
        elif call == "get":
            with pytest.raises(TaskNotFound):
                await lossy.tasks.get(by("ada"), new_task_id())
        elif call == "cancel":
            await lossy.tasks.cancel(by("ada"), run.task_id, "")
        elif call == "cancel again":
            with pytest.raises(TaskAlreadyFinished):
                await lossy.tasks.cancel(by("ada"), run.task_id, "")
        elif call == "finish":
            await finish(lossy, run, DONE)
        else:
            await fill(lossy, 1)
    assert len(await read(world)) == before + 1


async def test_two_that_were_denied_are_two(world: World) -> None:
    for _ in range(2):
        with pytest.raises(TaskNotFound):
            await world.tasks.get(by("ada"), new_task_id())
    assert len(await read(world)) == 2


@on_real_servers
async def test_it_is_bounded_and_small(world: World) -> None:
    """Redis drops whole nodes of the stream, so that there may be some more than were asked for."""
    for _ in range(10):
        run = await world.start(owner="0123456789abcdef" * 2)
        await finish(world, run)
    many = 400
    client = Client(world.redis, world.keys, audit_events=100)
    tasks = TaskStore(client, task_limit=TASK_LIMIT, queue_limit=QUEUE_LIMIT)
    for _ in range(many):
        await tasks.create(by("ada"), new_task(owner="0123456789abcdef" * 2))
    length = await world.redis.xlen(world.keys.audit())
    assert 100 <= length < 200
    assert await world.redis.memory_usage(world.keys.audit(), samples=0) / length < 250


async def test_without_a_trail_nothing_is_appended(world: World) -> None:
    client = Client(world.redis, world.keys, with_flags=world.with_flags, audit_events=0)
    tasks = TaskStore(client, task_limit=TASK_LIMIT, queue_limit=QUEUE_LIMIT)
    await tasks.create(by("ada"), new_task())
    with pytest.raises(TaskNotFound):
        await tasks.get(by("ada"), new_task_id())
    await AuditTrail(client).append("p", 1, [(*Event(), 1, 0)])
    assert not [key for key in await world.redis.keys("*") if b"audit" in key]


def test_the_bound_is_written_into_the_scripts_that_need_it() -> None:
    assert "local AUDIT_EVENTS = 7\n" in load("finish", audit_events=7).source
    assert load("touch", audit_events=7) == load("touch", audit_events=8)


# Reading


async def test_pages_newest_first(world: World) -> None:
    await fill(world, 7)
    trail, before, found = AuditTrail(world.client), None, []
    for _ in range(3):
        page = await trail.page(before, 3)
        found.append([entry.event.task for entry in page.entries])
        before = page.before
    assert found == [["6", "5", "4"], ["3", "2", "1"], ["0"]]
    assert before is None


async def test_what_is_wanted_is_looked_for_in_a_bounded_part(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five round trips, and the next page goes on where they ended."""
    await fill(world, 2, operation="tasks/get", outcome="denied", who="bob")
    assert [event.task for event in await read(world, who="bob", task="1")] == ["1"]
    monkeypatch.setattr("receiver.store.audit.WALKED", 10)
    await fill(world, 60, operation="tools/call", outcome="success", who="ada")
    wanted = Wanted(operation="tasks/get")
    first = await AuditTrail(world.client).page(None, 5, wanted)
    assert (first.entries, first.before is None) == ([], False)
    second = await AuditTrail(world.client).page(first.before, 5, wanted)
    assert ([entry.event.who for entry in second.entries], second.before) == (["bob", "bob"], None)


@pytest.mark.parametrize("text", ["", "+", "-", "(1-0", "1", "1-0 COUNT", "x-1", "1-0\n"])
async def test_what_is_no_id_is_refused(world: World, text: str) -> None:
    trail = AuditTrail(world.client)
    with pytest.raises(ValueError, match="not the id"):
        await trail.page(text)
    with pytest.raises(ValueError, match="not the id"):
        await anext(trail.follow(text))


async def test_followed_from_an_id(world: World) -> None:
    await fill(world, 3)
    trail = AuditTrail(world.client)
    oldest = (await trail.page()).entries[-1]
    following = trail.follow(oldest.id, Wanted(task="2"))
    assert (await anext(following)).event.task == "2"


async def test_followed_from_now_on(world: World) -> None:
    await fill(world, 3)
    following = AuditTrail(world.client).follow()
    first: asyncio.Task[Entry] = asyncio.create_task(_next(following))
    while not first.done():
        await fill(world, 1, operation="new")
        await asyncio.sleep(0.01)
    assert (await first).event.operation == "new"


async def _next(following: Any) -> Entry:
    return await anext(following)


async def test_an_event_is_of_when_it_happened(world: World) -> None:
    await AuditTrail(world.client).append("p", 1, [(*NOBODY, "", "", "success", "", 3, 500)])
    (entry,) = (await AuditTrail(world.client).page()).entries
    assert entry.times == 3
    assert entry.time == int(entry.id.partition("-")[0]) - 500
