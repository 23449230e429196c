"""What may happen to one task, each thing by one script, and the states that it may be in then."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from receiver.protocol.errors import TaskAlreadyFinished, TaskNotFound
from receiver.session import Session
from receiver.store.inputs import AskedOtherwise, Question
from receiver.store.record import ClaimedRun, Kind
from receiver.store.steps import Recorded
from tests.properties.invariants import check_task
from tests.properties.snapshot import Snapshot
from tests.store.asked import SAID, TASKS, THEIRS, question_of
from tests.store.clients import ANSWER, Connection, begin_session, follow
from tests.store.world import ADA, World, finish, new_task

HOUR = 3_600_000
NAME = "elicitation/create#1"
SLEEP = "sleep#1"


class Scene:
    """A task, the run that began it, and a question that its client was given."""

    run: ClaimedRun
    question: Question
    session: Session
    stream: Connection

    def __init__(self, world: World) -> None:
        self.world = world
        self.task_id = ""

    async def begin(self, kind: Kind = "task") -> None:
        """A task that waits, or a plain call."""
        self.session = await begin_session(self.world, capabilities=TASKS)
        new = new_task(kind=kind, session=self.session.id, request=b"1" if kind == "call" else b"")
        await self.world.tasks.create(ADA, new)
        self.task_id = new.id

    async def call(self) -> None:
        """A plain call that waits, and its stream."""
        await self.begin("call")
        self.stream = follow(self.world, self.session, self.task_id, kind="call", request=b"1")
        await self.stream.look()

    async def claim(self, worker: str = "w2") -> None:
        for run in await self.world.claim(worker):
            self.run = run

    async def look(self) -> None:
        """The client is given what there is."""
        await follow(self.world, self.session, self.task_id).look()

    async def snapshot(self) -> Snapshot:
        return Snapshot(self.world.keys, await self.world.dump(), await self.world.now())

    async def view(self) -> dict[str, Any]:
        """How the task stands, without ids and times; {} if it is gone.  Checks it, too."""
        now = await self.snapshot()
        record = now.record(self.task_id)
        if not record:
            assert not now.places(self.task_id), "a task that expired stands somewhere"
            return {}
        check_task(now, self.task_id)
        told = (
            "status",
            "status_message",
            "run",
            "attempt",
            "losses",
            "worker",
            "lost",
            "handed_back",
            "payload",
            "unwanted",
        )
        asked = ("state", "answer", "task")
        inputs, steps = now.inputs(self.task_id), now.steps(self.task_id)
        return (
            {name: record[name] for name in (*told, "unwanted") if record.get(name)}
            | {name: value for name, value in inputs.items() if name.rpartition(":")[2] in asked}
            | {name: value for name, value in steps.items() if not name.endswith(":due")}
            | {name: "" for name in steps if name.endswith(":due")}
            | {"places": now.places(self.task_id)}
        )


Happening = Callable[[Scene], Awaitable[object]]


async def claim(scene: Scene) -> None:
    await scene.world.claim("w2")


async def take_over(scene: Scene) -> None:
    """Another worker claims what a silent one had."""
    await lose(scene)
    await scene.world.claim("w2")


async def recover(scene: Scene) -> None:
    await lose(scene)
    await scene.world.runs.recover()


async def lose(scene: Scene) -> None:
    await scene.world.calm()
    if scene.task_id in await scene.world.members(scene.world.keys.leases()):
        await scene.world.redis.zadd(scene.world.keys.leases(), {scene.task_id: 1})


async def wake(scene: Scene) -> None:
    """Its time has come, and a worker claims."""
    await scene.world.redis.zadd(scene.world.keys.later(), {scene.task_id: 1}, xx=True)
    await scene.world.claim("w2")


async def complete(scene: Scene) -> None:
    await finish(scene.world, scene.run)


async def retry(scene: Scene) -> None:
    await scene.world.runs.requeue(scene.run.task_id, scene.run.run, "retry")


async def hand_back(scene: Scene) -> None:
    await scene.world.runs.requeue(scene.run.task_id, scene.run.run, "handed_back", HOUR)


async def leave(scene: Scene) -> None:
    await scene.world.runs.leave("w1")


async def beat(scene: Scene) -> None:
    scene.world.beat(scene.run)


async def cancel(scene: Scene) -> None:
    with suppress(TaskAlreadyFinished, TaskNotFound):
        await scene.world.tasks.cancel(ADA, scene.task_id, "enough")


async def expire(scene: Scene) -> None:
    await scene.world.expire(scene.task_id)
    await scene.world.runs.sweep()


async def ask(scene: Scene) -> None:
    with suppress(AskedOtherwise):
        await scene.world.inputs.ask(scene.run.task_id, scene.run.run, question_of(1))


async def ask_more(scene: Scene) -> None:
    await scene.world.inputs.ask(scene.run.task_id, scene.run.run, question_of(2))


async def remember(scene: Scene) -> None:
    await scene.world.steps.remember(scene.run.task_id, scene.run.run, "step#1", Recorded("digest", b"1"))


async def sleep(scene: Scene) -> None:
    await scene.world.steps.sleep(scene.run.task_id, scene.run.run, SLEEP, HOUR)


async def report(scene: Scene) -> None:
    await scene.world.runs.report(scene.run.task_id, scene.run.run, {"status_message": "at it"})


async def park(scene: Scene) -> None:
    await scene.world.runs.park(scene.run.task_id, scene.run.run, [NAME])


async def doze(scene: Scene) -> None:
    """Parks a run that sleeps."""
    await scene.world.runs.park(scene.run.task_id, scene.run.run, [SLEEP])


async def withdraw(scene: Scene) -> None:
    await scene.world.inputs.withdraw(scene.run.task_id, scene.run.run, NAME)


async def decide(scene: Scene) -> None:
    """The run answers its question itself."""
    await scene.world.inputs.withdraw(scene.run.task_id, scene.run.run, NAME, b"{}")


async def answer(scene: Scene) -> None:
    await scene.world.inputs.answer(scene.question.request_id, scene.session, ANSWER)


async def accept(scene: Scene) -> None:
    await scene.world.inputs.accept(scene.question.request_id, scene.session, THEIRS)


async def poll(scene: Scene) -> None:
    await scene.world.inputs.poll(scene.run.task_id, scene.run.run, NAME, "tasks/get", THEIRS.id)


async def poll_id(scene: Scene) -> str:
    found = await scene.world.redis.hget(scene.world.keys.inputs(scene.task_id), f"{NAME}/poll:id")
    return found.decode() if found else "ask-unknown"


async def answer_poll(scene: Scene) -> None:
    await scene.world.inputs.answer_poll(await poll_id(scene), scene.session, SAID, None)


async def bring_result(scene: Scene) -> None:
    """What the client's task gave."""
    await scene.world.inputs.answer(await poll_id(scene), scene.session, ANSWER)


async def cancel_request(scene: Scene) -> None:
    await scene.world.sessions.cancel_request(scene.session, b"1")


async def close_stream(scene: Scene) -> None:
    await scene.stream.close()


async def end_session(scene: Scene) -> None:
    await scene.world.sessions.end(scene.session)


# How a task comes to where it stands before: state -> what led to it.

RUNNING: list[Happening] = [Scene.begin, lambda scene: scene.claim("w1")]


async def ask_client(scene: Scene) -> None:
    scene.question = question_of(1)
    await scene.world.inputs.ask(scene.run.task_id, scene.run.run, scene.question)
    await scene.look()


STATES: dict[str, list[Happening]] = {
    "queued": [Scene.begin],
    "running": RUNNING,
    "lost": [*RUNNING, recover],
    "asleep": [*RUNNING, sleep],
    "dozing": [*RUNNING, sleep, doze],
    "asked": [*RUNNING, ask_client],
    "parked": [*RUNNING, ask_client, park],
    "accepted": [*RUNNING, ask_client, accept],
    "polling": [*RUNNING, ask_client, accept, poll, Scene.look],
    "called": [Scene.call, lambda scene: scene.claim("w1")],
}
