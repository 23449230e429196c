"""A store without memory refuses what is new, and lets end what has begun."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import orjson
import pytest

from receiver.protocol.errors import Refused, Unavailable
from receiver.store.admission import RateLimit
from receiver.store.client import Client, connect
from receiver.store.runs import Verdict
from receiver.store.streams import StreamGivenUp
from receiver.store.tasks import TaskStore
from tests.proxy import Proxy
from tests.store.asked import SAID, begin, question_of
from tests.store.backends import on_real_servers
from tests.store.clients import ANSWER, ask, begin_session, follow, hear, new_question, say, start_call
from tests.store.world import ADA, DONE, QUEUE_LIMIT, TASK_LIMIT, World, by, finish, new_task

pytestmark = on_real_servers

Fill = Callable[[], Awaitable[None]]


@pytest.fixture
async def fill(world: World) -> AsyncIterator[Fill]:
    """Takes all memory away, until the test is over."""

    async def take_memory_away() -> None:
        await world.redis.config_set("maxmemory", 1)

    yield take_memory_away
    await world.redis.config_set("maxmemory", 0)


async def expect_refusal(world: World, call: Awaitable[object]) -> None:
    before = await world.dump()
    with pytest.raises(Refused) as refused:
        await call
    assert refused.value.data["reason"] == "storage_full"
    assert await world.dump() == before


async def test_create_is_refused_and_writes_nothing(world: World, fill: Fill) -> None:  # F30
    await fill()
    await expect_refusal(world, world.create())


async def test_create_is_refused_whatever_there_is_to_tidy_up(world: World, fill: Fill) -> None:
    """A script that has already written something is no longer stopped by the server."""
    await world.expire(await world.create("ada"))
    await fill()
    await expect_refusal(world, world.create("ada"))


async def test_create_is_refused_where_the_script_is_not_known(world: World, fill: Fill) -> None:
    await world.redis.script_flush()
    await fill()
    await expect_refusal(world, world.create())


async def test_a_create_sent_again_is_a_success(world: World, fill: Fill) -> None:
    task = new_task()
    created_at = await world.tasks.create(ADA, task)
    await fill()
    assert await world.tasks.create(ADA, task) == created_at


async def test_a_create_whose_reply_was_lost_is_not_said_to_be_refused(world: World, fill: Fill) -> None:
    """Its session can't be renewed any more; that nothing was stored would not be true."""
    session, task = await begin_session(world), new_task()
    assert world.backend.server is not None
    async with Proxy(world.backend.server.socket) as proxy:
        lossy = connect(proxy.url)
        tasks = TaskStore(Client(lossy, world.keys), task_limit=TASK_LIMIT, queue_limit=QUEUE_LIMIT)
        await tasks.create(by("ada", session.id), new_task())  # so that the next one is one round trip
        proxy.hold()
        creating = asyncio.create_task(tasks.create(by("ada", session.id), task))
        await proxy.has_held_back()
        await fill()
        proxy.cut()
        proxy.release()
        try:
            with pytest.raises(Unavailable):
                await creating
        finally:
            await lossy.aclose(close_connection_pool=True)
    assert (await world.tasks.get(ADA, task.id)).status == "working"


async def test_report_is_refused(world: World, fill: Fill) -> None:
    run = await world.start()
    await fill()
    await expect_refusal(world, world.runs.report(run.task_id, run.run, {"status_message": "x"}))


async def test_running_tasks_finish(world: World, fill: Fill) -> None:
    run = await world.start()
    await fill()
    assert await finish(world, run) is Verdict.DONE


async def test_waiting_tasks_are_run(world: World, fill: Fill) -> None:
    task_id = await world.create()
    await fill()
    assert (await world.claim_one()).task_id == task_id


async def test_everything_else_goes_on(world: World, fill: Fill) -> None:
    cancelled, retried, lost, expired = [await world.start() for _ in range(4)]
    await world.expire(expired.task_id)
    await world.lose_lease(lost.task_id)
    await fill()
    assert await world.runs.sweep() == {expired.task_id: "working"}
    assert await world.runs.recover() == {lost.task_id: "requeued"}
    assert world.beat(cancelled, retried) == {}
    assert (await world.tasks.cancel(ADA, cancelled.task_id, "")).status == "cancelled"
    assert await world.runs.requeue(retried.task_id, retried.run, "retry", 1_000) is Verdict.DONE
    await world.runs.leave("w1")


async def test_reads_go_on(world: World, fill: Fill) -> None:
    task_id = await world.create()
    await fill()
    assert (await world.tasks.get(ADA, task_id)).status == "working"
    assert (await world.tasks.get_progress(ADA, task_id)).status == "working"
    assert await world.tasks.get_statuses([task_id]) == ["working"]
    tasks, _ = await world.tasks.list_page(ADA, 10, None)
    assert [task.id for task in tasks] == [task_id]


# Sessions, streams and questions


async def test_create_is_refused_although_its_session_is_renewed(world: World, fill: Fill) -> None:
    """What its session needs is written before, and may not be what opens the door."""
    session = await begin_session(world)
    await world.redis.pexpire(world.keys.session(session.id), 60_000)
    await fill()
    await expect_refusal(world, world.tasks.create(by("ada", session.id), new_task()))


async def test_create_is_refused_although_it_is_counted(world: World, fill: Fill) -> None:
    await fill()
    await expect_refusal(world, world.tasks.create(by("ada", limit=RateLimit(10, 60_000)), new_task()))


async def test_ask_is_refused(world: World, fill: Fill) -> None:
    run = await world.start(session=(await begin_session(world)).id)
    await fill()
    await expect_refusal(world, world.inputs.ask(run.task_id, run.run, new_question()))


async def test_a_message_is_refused(world: World, fill: Fill) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    await hear(world, session).look()
    await fill()
    await expect_refusal(world, say(world, run, b"{}"))


async def test_a_subscription_and_an_announcement_are_refused(world: World, fill: Fill) -> None:
    session = await begin_session(world)
    admission = by("ada", session.id)
    await world.subscriptions.subscribe(admission, "test://a")
    await hear(world, session).look()
    await fill()
    await expect_refusal(world, world.subscriptions.subscribe(admission, "test://b"))
    await expect_refusal(world, world.subscriptions.announce("test://a"))
    await world.sessions.show_list(admission, "tools", "1")
    await world.subscriptions.unsubscribe(admission, "test://a")


async def test_what_was_asked_is_given_out_and_answered(world: World, fill: Fill) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    await say(world, run, b"{}")
    question = await ask(world, run)
    await fill()
    stream = follow(world, session, run.task_id)
    assert await stream.look() == [question.body]
    assert await world.inputs.find(question.request_id, session) is not None
    assert await world.inputs.answer(question.request_id, session, ANSWER)
    assert await finish(world, run) is Verdict.DONE
    await stream.look()
    assert stream.progress is not None
    assert stream.progress.payload == DONE.payload
    await stream.close()


async def test_a_task_of_the_client_is_pursued(world: World, fill: Fill) -> None:
    scene = await begin(world)
    other = question_of(2)
    await world.inputs.ask(scene.run.task_id, scene.run.run, other)
    await fill()
    assert await scene.accept()
    assert await scene.poll() is None
    found = [orjson.loads(body) for body in await scene.stream.look()]
    (poll,) = [message for message in found if message.get("method") == "tasks/get"]
    assert await world.inputs.answer_poll(poll["id"], scene.session, SAID, 0)
    assert await world.inputs.withdraw(scene.run.task_id, scene.run.run, other.name) is Verdict.DONE
    assert await scene.poll(result=True) is None
    assert await world.inputs.answer((await scene.polled())["id"], scene.session, ANSWER)
    assert await scene.status() == "working"


async def test_sessions_and_cancelled_requests_go_on(world: World, fill: Fill) -> None:
    session = await begin_session(world)
    run = await start_call(world, session, b"1")
    stream = follow(world, session, run.task_id, kind="call", request=b"1")
    await stream.look()
    await fill()
    newer = await begin_session(world)
    await world.sessions.set_log_level(by("ada", newer.id), "error")
    assert await hear(world, newer).look() == []
    assert await world.sessions.cancel_request(session, b"1")
    with pytest.raises(StreamGivenUp):
        await stream.look()
    assert await world.sessions.end(session)
