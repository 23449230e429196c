"""A question that a client may answer by a task of its own, as far as a test has brought it."""

from typing import Any

import orjson

from receiver.protocol.client_task import ClientTask
from receiver.session import Session
from receiver.store.inputs import Question
from receiver.store.record import ClaimedRun
from receiver.store.runs import Verdict
from tests.store.clients import Connection, begin_session, follow, new_question
from tests.store.world import ADA, World, finish

TASKS: dict[str, Any] = {"elicitation": {}, "tasks": {"cancel": {}, "requests": {"elicitation": {"create": {}}}}}
THEIRS = ClientTask("theirs-1", "working", 60_000, 0)  # a poll interval of 0: at any time
SLOW = ClientTask("theirs-1", "working", None, 3_600_000)
SAID = b'{"result":{"status":"working"}}'


class Scene:
    """A run that asked its client for a task; ``stream`` is one of the client's."""

    def __init__(self, world: World, session: Session, run: ClaimedRun, question: Question, stream: Connection) -> None:
        self.world, self.session, self.run = world, session, run
        self.question, self.stream = question, stream

    async def accept(self, task: ClientTask = THEIRS) -> bool:
        return await self.world.inputs.accept(self.question.request_id, self.session, task)

    async def poll(self, run: ClaimedRun | None = None, *, result: bool = False) -> int | None:
        run = run or self.run
        method: Any = "tasks/result" if result else "tasks/get"
        return await self.world.inputs.poll(run.task_id, run.run, self.question.name, method, THEIRS.id)

    async def polled(self, stream: Connection | None = None) -> dict[str, Any]:
        """The one request that a stream is given."""
        (request,) = [message for message in await self.messages(stream) if "id" in message]
        return request

    async def messages(self, stream: Connection | None = None) -> list[dict[str, Any]]:
        """What a stream is given, without changes of status."""
        found = [orjson.loads(body) for body in await (stream or self.stream).look()]
        return [message for message in found if message.get("method") != "notifications/tasks/status"]

    async def state(self) -> str:
        return (await self.world.inputs.look(self.run.task_id, self.question.name)).state

    async def status(self) -> str:
        return (await self.world.record(self.run.task_id))["status"]

    async def withdraw(self, answer: bytes = b"") -> Verdict:
        return await self.world.inputs.withdraw(self.run.task_id, self.run.run, self.question.name, answer)


def question_of(number: int = 1, *, as_task: bool = True) -> Question:
    """A question that a stream is given as JSON."""
    bare = new_question(number, f"{number}?")
    params: dict[str, Any] = {"message": "Who?"} | ({"task": {"ttl": 1}} if as_task else {})
    body = {"jsonrpc": "2.0", "id": bare.request_id, "method": bare.method, "params": params}
    withdrawal = b"" if as_task else orjson.dumps({"method": "notifications/cancelled", "about": bare.request_id})
    return Question(bare.name, bare.digest, bare.request_id, bare.method, orjson.dumps(body), (), withdrawal)


async def begin(world: World, capabilities: dict[str, Any] = TASKS, *, as_task: bool = True, **options: Any) -> Scene:
    """A question that a stream of the task was given."""
    session = await begin_session(world, capabilities=capabilities)
    run = await world.start(session=session.id, **options)
    question, stream = question_of(as_task=as_task), follow(world, session, run.task_id)
    assert await world.inputs.ask(run.task_id, run.run, question) is Verdict.DONE
    scene = Scene(world, session, run, question, stream)
    assert (await scene.polled())["id"] == question.request_id
    return scene


async def end(scene: Scene, how: str) -> None:
    if how == "finish":
        await finish(scene.world, scene.run)
    elif how == "cancel":
        await scene.world.tasks.cancel(ADA, scene.run.task_id, "")
    else:
        await scene.world.lose_lease(scene.run.task_id)
        await scene.world.recover()
