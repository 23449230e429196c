"""Every two things that may happen to a task that asks: in either order, nothing is lost, doubled or left half done.

Each script runs by itself, so that an order of two is all that a race between them can come to.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from receiver.protocol.errors import SessionEnded, TaskAlreadyFinished, TaskNotFound
from receiver.protocol.lifecycle import STATUSES, TERMINAL
from receiver.session import Session
from receiver.store.inputs import Question
from receiver.store.record import ClaimedRun
from receiver.store.runs import Verdict
from receiver.store.streams import StreamGivenUp
from tests.store.clients import ANSWER, Connection, begin_session, follow, hear, new_question, read_answer, say
from tests.store.world import ADA, LABEL, World, finish


@dataclass
class Scene:
    """A task that has asked one question, which ``stream`` was given; the session has a stream of its own, too."""

    world: World
    session: Session
    run: ClaimedRun
    question: Question
    stream: Connection
    own: Connection
    said: list[bytes] = field(default_factory=list)
    asked: list[Question] = field(default_factory=list)
    given: list[bytes] = field(default_factory=list)
    answered: bool = False
    expired: bool = False
    ended: bool = False

    @classmethod
    async def set(cls, world: World) -> "Scene":
        session = await begin_session(world)
        run = await world.start(session=session.id)
        stream, own = follow(world, session, run.task_id, request=b"1"), hear(world, session)
        question = new_question(1)
        scene = cls(world, session, run, question, stream, own)
        await own.look()
        await stream.look()
        await world.inputs.ask(run.task_id, run.run, question)
        await scene.look(stream)
        await scene.say()
        return scene

    async def look(self, stream: Connection) -> None:
        with suppress(StreamGivenUp, TaskNotFound, SessionEnded):
            self.given += await stream.look()

    async def say(self) -> None:
        body = b"{%d}" % len(self.said)
        if await say(self.world, self.run, body) is Verdict.DONE:
            self.said.append(body)


async def ask(scene: Scene) -> None:
    question = new_question(2)
    verdict = await scene.world.inputs.ask(scene.run.task_id, scene.run.run, question)
    if verdict is Verdict.DONE and not scene.asked:  # else it is the same question again
        scene.asked.append(question)


async def answer(scene: Scene) -> None:
    scene.answered |= await scene.world.inputs.answer(scene.question.request_id, scene.session, ANSWER)


async def cancel(scene: Scene) -> None:
    with suppress(TaskAlreadyFinished, TaskNotFound):
        await scene.world.tasks.cancel(ADA, scene.run.task_id, "")


async def end(scene: Scene) -> None:
    await finish(scene.world, scene.run)


async def retry(scene: Scene) -> None:
    await scene.world.runs.requeue(scene.run.task_id, scene.run.run, "retry")


async def rerun(scene: Scene) -> None:
    if (await scene.world.record(scene.run.task_id)).get("worker"):
        await scene.world.lose_lease(scene.run.task_id)
    for run in await scene.world.claim("w2"):
        scene.run = run


async def expire(scene: Scene) -> None:
    scene.expired = True
    await scene.world.expire(scene.run.task_id)
    await scene.world.redis.delete(scene.world.keys.inputs(scene.run.task_id))
    await scene.world.redis.delete(scene.world.keys.outbox(scene.run.task_id))
    await scene.world.runs.sweep()


async def look(scene: Scene) -> None:
    await scene.look(scene.stream)


async def listen(scene: Scene) -> None:
    await scene.look(scene.own)


async def close(scene: Scene) -> None:
    await scene.stream.close()


async def resume(scene: Scene) -> None:
    scene.stream = scene.stream.resumed()
    await scene.look(scene.stream)


async def resume_and_close_late(scene: Scene) -> None:
    older = scene.stream
    await resume(scene)
    await older.close()


async def cancel_request(scene: Scene) -> None:
    await scene.world.sessions.cancel_request(scene.session, b"1")


async def end_session(scene: Scene) -> None:
    scene.ended = True
    await scene.world.sessions.end(scene.session)


async def speak(scene: Scene) -> None:
    await scene.say()


async def park(scene: Scene) -> None:
    waits = [question.name for question in (scene.question, *scene.asked)]
    await scene.world.runs.park(scene.run.task_id, scene.run.run, waits)


Happening = Callable[[Scene], Awaitable[None]]

HAPPENINGS: list[Happening] = [
    ask,
    answer,
    cancel,
    end,
    retry,
    rerun,
    expire,
    look,
    listen,
    close,
    resume,
    resume_and_close_late,
    cancel_request,
    end_session,
    speak,
    park,
]


@pytest.mark.parametrize("first", HAPPENINGS, ids=lambda happening: happening.__name__)
async def test_two_things_that_happen(world: World, first: Happening) -> None:
    for second in HAPPENINGS:
        scene = await Scene.set(world)
        await first(scene)
        await second(scene)
        try:
            await check(scene)
        except AssertionError as error:
            raise AssertionError(f"{first.__name__}, then {second.__name__}: {error}") from error


async def check(scene: Scene) -> None:
    world, task_id = scene.world, scene.run.task_id
    record = await world.record(task_id)
    if scene.expired:
        assert record == {}, "an expired task came back"
        return
    await check_record(scene, record)
    await hear_out(scene)
    given = [body for body in scene.given if body.startswith(b"{") and body.endswith(b"}") and len(body) < 6]
    assert given == scene.said, "a message was lost, or came twice, or in another order"
    asked = [question for question in (scene.question, *scene.asked) if question.body in scene.given]
    is_open = record["status"] == "input_required"
    assert not is_open or asked[-1:] == [scene.question, *scene.asked][-1:], "a question was given to nobody"
    assert is_open or not await world.members(world.keys.talking(scene.session.id)), "the session hears of it for ever"


async def check_record(scene: Scene, record: dict[str, str]) -> None:
    world, task_id = scene.world, scene.run.task_id
    inputs = await world.redis.hgetall(world.keys.inputs(task_id))
    is_any_open = b"open" in inputs.values()
    if record["status"] not in TERMINAL:
        assert (record["status"] == "input_required") == is_any_open, "its status does not tell of its questions"
    places = [task_id in await world.ready(), task_id in await world.members(world.keys.later())]
    places += [task_id in await world.members(world.keys.leases()), "parked" in record]
    assert sum(places) == (record["status"] not in TERMINAL), f"{record['status']}, and in {places}"
    assert not places[-1] or is_any_open, "it is parked, and nothing would ever bring it back"
    indexed = [status for status in STATUSES if task_id in await world.members(world.keys.status(status, LABEL))]
    assert indexed == [record["status"]]
    stored = await read_answer(world, task_id, scene.question.name)
    assert (stored == ANSWER) == scene.answered, "an answer was lost, or taken too late"


async def hear_out(scene: Scene) -> None:
    """Whoever may still be given something looks once more: streams that live, and at last a new one."""
    await scene.look(scene.stream)
    await scene.stream.close()
    await scene.world.redis.delete(scene.world.keys.listeners(scene.run.task_id))
    await scene.look(scene.own)
    session = await begin_session(scene.world) if scene.ended else scene.session
    await scene.look(follow(scene.world, session, scene.run.task_id))
