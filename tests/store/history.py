"""Random histories: workers that crash, lose replies, come back late and leave, and ask, on a store of their own."""

from dataclasses import dataclass, field
from random import Random

from receiver.protocol.errors import TaskAlreadyFinished, TaskNotFound
from receiver.session import Session
from receiver.store.inputs import Question
from receiver.store.record import ClaimedRun
from receiver.store.runs import Verdict
from tests.store.clients import ANSWER, begin_session, hear, new_question
from tests.store.world import World, by, finish, share

QUEUES = ("plain", "plain:draw", "default", "default:draw")
CAP = 2
SLOTS = 4


@dataclass
class Worker:
    """What a worker believes.  ``unheard``: a claim whose reply was lost, which it will send again."""

    name: str
    number: int = 0
    acknowledged: int = 0
    runs: dict[str, ClaimedRun] = field(default_factory=dict)
    unheard: tuple[int, int, dict[str, int]] | None = None


class History:
    """Lets one random thing after another happen; ``ids`` are the tasks that have not expired."""

    def __init__(self, world: World, seed: int) -> None:
        self._world = world
        self._random = Random(seed)  # noqa: S311 - to be repeated, not to be secret
        self._workers = [Worker(f"w{number}") for number in range(3)]
        self.ids: list[str] = []
        self.finished: list[str] = []
        self.passed_over = False
        self.answered = 0
        self._questions: list[tuple[str, Question]] = []
        self._sessions: dict[str, Session] = {}
        often = [self._create] * 4 + [self._claim] * 6 + [self._beat] * 4 + [self._finish] * 3 + [self._requeue] * 2
        talking = [self._ask] * 6 + [self._answer] * 5 + [self._hear] * 5 + [self._park] * 4
        rarely = [
            self._cancel,
            self._cancel,
            self._lose,
            self._recover,
            self._crash,
            self._leave,
            self._expire,
            self._sweep,
        ]
        self._happenings = often + talking + rarely

    async def step(self) -> None:
        """The next thing."""
        await self._random.choice(self._happenings)()

    async def end(self) -> None:
        """All workers die, and a new one does all that is left to do."""
        await self._world.lose_lease(*await self._world.members(self._world.keys.leases()) or ["0-0"])
        for task_id in await self._world.members(self._world.keys.later()):
            await self._world.redis.zadd(self._world.keys.later(), {task_id: 1})
        for task_id in self.ids:
            if (await self._world.record(task_id)).get("parked"):
                await self._answer_by_hand(task_id)
        while runs := await self._world.claim("last", free=SLOTS, queues=share(*QUEUES, cap=CAP)):
            for run in runs:
                assert await finish(self._world, run) is Verdict.DONE
                self.finished.append(run.task_id)

    async def _answer_by_hand(self, task_id: str) -> None:
        """The client is given all that a task asks, and answers."""
        keys, redis = self._world.keys, self._world.redis
        session = await self._session((await self._world.record(task_id))["owner"])
        for number in await self._world.asked(task_id):
            request = (await redis.hget(keys.inputs(task_id), f"elicitation/create#{number}:id")).decode()
            await redis.hset(keys.ask(request), f"asked:{session.id}", "1")
            await self._world.inputs.answer(request, session, ANSWER)

    def _worker(self) -> Worker:
        return self._random.choice(self._workers)

    def _is_lost(self) -> bool:
        """Whether a reply is."""
        return self._random.random() < 0.2

    async def _create(self) -> None:
        queue, owner = self._random.choice(QUEUES), self._random.choice("abc")
        attempts = self._random.choice((1, 3))
        kind = "call" if queue.startswith("plain") else "task"
        session = (await self._session(owner)).id
        options = {"queue": queue, "kind": kind, "max_attempts": attempts, "session": session}
        self.ids.append(await self._world.create(owner, **options))

    async def _claim(self) -> None:
        worker = self._worker()
        if worker.unheard is None:
            worker.number += 1
            running = {task_id: run.run for task_id, run in worker.runs.items()}
            worker.unheard = worker.number, SLOTS - len(running), running
        number, free, running = worker.unheard
        options = {"number": number, "free": free, "open": max(0, free - 1), "running": running}
        runs = await self._world.claim(worker.name, queues=share(*QUEUES, cap=CAP), **options)  # type: ignore[arg-type]
        self.passed_over = bool(running)
        if not self._is_lost():
            twice = worker.runs.keys() & {run.task_id for run in runs}
            assert not twice, "a worker was given a task that it runs already"
            worker.runs |= {run.task_id: run for run in runs}
            worker.acknowledged, worker.unheard = number, None

    async def _beat(self) -> None:
        worker = self._worker()
        stops = self._world.beat(*worker.runs.values(), worker=worker.name, acknowledged=worker.acknowledged)
        if not self._is_lost():
            for task_id in stops:
                del worker.runs[task_id]

    async def _finish(self) -> None:
        worker = self._worker()
        for task_id, run in list(worker.runs.items())[:1]:
            holds_fence = (await self._world.record(task_id)).get("run") == str(run.run)
            if await finish(self._world, run) is Verdict.DONE:
                assert holds_fence, "an older run ended the task"
                self.finished.append(task_id)
            if not self._is_lost():
                del worker.runs[task_id]

    async def _requeue(self) -> None:
        worker = self._worker()
        for task_id, run in list(worker.runs.items())[:1]:
            may_retry = run.attempt < run.max_attempts
            reason = self._random.choice(("handed_back", "retry")) if may_retry else "handed_back"
            delay = self._random.choice((0, 0, 60_000))
            await self._world.runs.requeue(task_id, run.run, reason, delay)  # type: ignore[arg-type]
            if not self._is_lost():
                del worker.runs[task_id]

    async def _park(self) -> None:
        """With what it asked, or asleep, or with both; a question may be answered by now."""
        worker = self._worker()
        for task_id, run in list(worker.runs.items())[:1]:
            waits = [f"elicitation/create#{number}" for number in await self._world.asked(task_id)]
            if not waits or self._random.random() < 0.3:
                waits.append("sleep#1")
                await self._world.steps.sleep(task_id, run.run, "sleep#1", 60_000)
            if await self._world.runs.park(task_id, run.run, waits) and not self._is_lost():
                del worker.runs[task_id]

    async def _session(self, owner: str) -> Session:
        if owner not in self._sessions:
            self._sessions[owner] = await begin_session(self._world, owner)
        return self._sessions[owner]

    async def _ask(self) -> None:
        worker = self._worker()
        for task_id, run in list(worker.runs.items())[:1]:
            question = new_question(self._random.choice((1, 2)))
            if await self._world.inputs.ask(task_id, run.run, question) is Verdict.DONE:
                assert (await self._world.record(task_id))["run"] == str(run.run), "an older run asked"
                self._questions.append((run.text("owner"), question))

    async def _answer(self) -> None:
        if self._questions:
            owner, question = self._random.choice(self._questions[-5:])
            self.answered += await self._world.inputs.answer(question.request_id, await self._session(owner), ANSWER)

    async def _hear(self) -> None:
        await hear(self._world, await self._session(self._random.choice("abc"))).look()

    async def _cancel(self) -> None:
        if self.ids:
            try:
                await self._world.tasks.cancel(by(self._random.choice("abc")), self._random.choice(self.ids), "")
            except (TaskNotFound, TaskAlreadyFinished):
                return

    async def _lose(self) -> None:
        leases = await self._world.members(self._world.keys.leases())
        if leases:
            await self._world.lose_lease(self._random.choice(sorted(leases)))

    async def _recover(self) -> None:
        await self._world.recover()

    async def _crash(self) -> Worker:
        worker = self._worker()
        self._workers[self._workers.index(worker)] = Worker(f"{worker.name}'")
        return worker

    async def _leave(self) -> None:
        await self._world.runs.leave((await self._crash()).name)

    async def _expire(self) -> None:
        if self.ids:
            task_id = self._random.choice(self.ids)
            self.ids.remove(task_id)
            await self._world.expire(task_id)
            await self._world.runs.sweep()

    async def _sweep(self) -> None:
        await self._world.runs.sweep()
