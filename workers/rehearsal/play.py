"""Plays one call to its end: claims and executes its runs, has its questions answered, and lets its time pass."""

import asyncio
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from receiver.principal import Principal
from receiver.protocol.lifecycle import is_terminal
from receiver.receiver import Receiver
from receiver.settings import Settings
from receiver.store.record import Progress
from receiver.store.runs import Slots
from workers.equipment import Equipment
from workers.queues import Queues
from workers.rehearsal.answers import Answers, Prompter
from workers.rehearsal.clock import TimedClient, open_store
from workers.rehearsal.performance import Performance, Point
from workers.rehearsal.requestor import Part, Request, Requestor
from workers.rehearsal.run import StagedInputs, StagedRun, StagedRunner, StagedSteps
from workers.threads import Threads

NEVER = 1e9  # seconds of waiting in memory after which a run is parked
PATIENCE_SECONDS = 5.0  # for a run that waits for what nobody brings


@dataclass(frozen=True)
class Cast:
    """Who plays, and for whom: ``state`` is what the lifespan yielded."""

    app: Receiver
    state: Any
    settings: Settings
    principal: Principal
    capabilities: Mapping[str, Any]


async def perform(
    cast: Cast, request: Request, answers: Answers, *, kill: Point | None = None, parked: bool = False
) -> Performance:
    """Plays a request in a store of its own; it is killed at a point, or parked at each wait.

    Raises AssertionError for a question without an answer, and for what never ends.
    """
    settings = cast.settings.model_copy(update={"park_after_seconds": 0 if parked else NEVER})
    async with open_store(settings) as (client, kit):
        requestor = Requestor(client, kit.tasks, settings, cast.principal, cast.capabilities)
        await requestor.start()
        return await Play(replace(cast, settings=settings), client, kit, requestor, request).perform(answers, kill)


class Play:
    """One request, and the store that it is played in."""

    def __init__(self, cast: Cast, client: TimedClient, kit: Equipment, requestor: Requestor, request: Request) -> None:
        self._cast, self._client, self._kit = cast, client, kit
        self._requestor, self._request = requestor, request
        self._threads = Threads(lambda: None)
        self._queues = list(Queues({request.operation.queue_for(as_task=request.kind == "task"): None}))
        is_task = request.kind == "task"
        self._parks = cast.settings.park_after_seconds == 0 and request.operation.replay and is_task
        self._expires_at = client.clock.now + request.ttl
        self._claims = itertools.count(1)

    async def perform(self, answers: Answers, kill: Point | None) -> Performance:
        """Plays it to its end."""
        prompter = Prompter(answers)
        performance, part = Performance(self._request.name, prompter.asked, kill), Part(prompter)
        performance.task_id = await self._requestor.create(self._request)
        while not is_terminal((await self._look(performance, part))[0].status):
            run = await self._next_run(performance)
            performance.runs += 1
            await self._execute(run, part)
            if run.stop_reason == "superseded":
                await self._lose(performance)
        return performance

    async def _look(self, performance: Performance, part: Part) -> tuple[Progress, bool]:
        return await self._requestor.look(performance.task_id, self._request.kind, part)

    async def _next_run(self, performance: Performance) -> StagedRun:
        """The next run, for which time passes if need be."""
        for _ in range(2):
            number = next(self._claims)
            claims, due = await self._kit.runs.claim(self._kit.worker, number, Slots(1, 1), self._queues, {})
            if claims:
                return StagedRun(claims[0], performance=performance)
            if due is None:
                break
            self._pass(due, performance)
        raise AssertionError(f"{performance.name} waits for answers that nobody gives: {performance.questions}")

    async def _execute(self, run: StagedRun, part: Part) -> None:
        client = self._client
        kit = replace(self._kit, steps=StagedSteps(client, run, client.clock), inputs=StagedInputs(client, run))
        runner = StagedRunner(self._cast.app, kit, self._cast.settings, self._threads, self._cast.state)
        running = asyncio.ensure_future(runner.execute(run))
        try:
            while not running.done():
                await self._await_turn(run, running)
                await self._attend(run, part)
            running.result()
        finally:
            if not running.done():
                run.stop("superseded")
                await asyncio.wait({running})

    async def _await_turn(self, run: StagedRun, running: "asyncio.Future[None]") -> None:
        turning: asyncio.Future[Any] = asyncio.ensure_future(run.turn.wait())
        patience = PATIENCE_SECONDS if run.waits.is_waiting else None
        try:
            done, _ = await asyncio.wait({running, turning}, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        finally:
            turning.cancel()
        run.turn.clear()
        if not done and run.waits.is_waiting:
            raise AssertionError(f"{run.performance.name} waits, and nobody answers: {run.performance.questions}")

    async def _attend(self, run: StagedRun, part: Part) -> None:
        """Does what the run waits for; one that is parked at each wait gets nothing in memory."""
        if run.stop_reason is not None or self._parks:
            return
        _, is_answered = await self._look(run.performance, part)
        if is_answered:
            run.on_news()
        elif run.waits.is_waiting and (end := run.next_end()) is not None:
            self._pass(end - self._client.clock.now, run.performance)
            run.on_news()

    def _pass(self, ms: int, performance: Performance) -> None:
        self._client.clock.advance(max(0, ms))
        if self._client.clock.now >= self._expires_at:
            ttl = self._request.ttl / 1000
            raise AssertionError(f"{performance.name} waits beyond its ttl, {ttl:g} s, at which its task expires")

    async def _lose(self, performance: Performance) -> None:
        """The worker is lost: its lease ends, and the task goes back to its queue."""
        while performance.task_id not in await self._kit.runs.recover():
            self._pass(self._cast.settings.lease_ms // 4, performance)
