"""What requestors are told besides: log messages from the level on that they set, and each change of a task."""

import orjson
import pytest

from receiver.store.runs import Notice
from tests.store.clients import begin_session, follow, hear, say, start_call
from tests.store.world import ADA, World, by, finish

# Log messages


@pytest.mark.parametrize(("level", "heard"), [(None, [1, 4]), ("debug", [0, 1, 4]), ("error", [4]), ("alert", [])])
async def test_log_messages_below_the_level_of_the_session_are_left_out(
    world: World, level: object, heard: list[int]
) -> None:  # L-09
    session = await begin_session(world)
    if level is not None:
        await world.sessions.set_log_level(by("ada", session.id), level)  # type: ignore[arg-type]
    run = await world.start(session=session.id)
    stream = follow(world, session, run.task_id)
    await stream.look()
    notices = [Notice(b"{%d}" % rank, rank) for rank in (0, 1, 4)]
    await world.runs.report(run.task_id, run.run, {}, [Notice(b"{progress}"), *notices])
    assert await stream.look() == [b"{progress}", *(b"{%d}" % rank for rank in heard)]


async def test_a_task_without_a_session_says_what_is_said_by_default(world: World) -> None:
    session = await begin_session(world)
    run = await world.start()
    stream = follow(world, session, run.task_id)
    await stream.look()
    await world.runs.report(run.task_id, run.run, {}, [Notice(b"{0}", 0), Notice(b"{1}", 1)])
    assert await stream.look() == [b"{1}"]


# Statuses


def statuses(bodies: list[bytes]) -> list[tuple[str, str | None]]:
    found = [orjson.loads(body) for body in bodies]
    assert {message["method"] for message in found} <= {"notifications/tasks/status"}
    return [(message["params"]["status"], message["params"].get("statusMessage")) for message in found]


async def test_each_change_is_said_as_it_was_then(world: World) -> None:  # T-23
    session = await begin_session(world)
    run = await world.start(session=session.id)
    stream = follow(world, session, run.task_id)
    await stream.look()
    await world.runs.report(run.task_id, run.run, {"status_message": "half"})
    await world.runs.report(run.task_id, run.run, {"progress": "1"})
    await finish(world, run)
    bodies = await stream.look()
    assert statuses(bodies) == [("working", "half"), ("completed", "half")]
    assert orjson.loads(bodies[-1])["params"]["taskId"] == run.task_id
    assert stream.progress is not None
    assert stream.progress.status == "completed"


async def test_the_end_is_said_behind_all_messages(world: World) -> None:  # T-61
    session = await begin_session(world)
    run = await world.start(session=session.id)
    own = hear(world, session)
    await own.look()
    await say(world, run, b"{1}")
    await world.tasks.cancel(ADA, run.task_id, "enough")
    first, last = await own.look()
    assert first == b"{1}"
    assert statuses([last]) == [("cancelled", "enough")]
    assert await world.members(world.keys.talking(session.id)) == []


async def test_a_status_message_that_says_status_is_no_status(world: World) -> None:
    session = await begin_session(world)
    run = await world.start(session=session.id)
    stream = follow(world, session, run.task_id)
    await stream.look()
    await world.runs.report(run.task_id, run.run, {"status_message": "status"}, [Notice(b'"status"')])
    first, second = await stream.look()
    assert statuses([first]) == [("working", "status")]
    assert second == b'"status"'


async def test_a_plain_call_has_no_status_to_tell(world: World) -> None:
    session = await begin_session(world)
    run = await start_call(world, session)
    stream = follow(world, session, run.task_id, kind="call")
    await stream.look()
    await finish(world, run)
    assert await stream.look() == []
