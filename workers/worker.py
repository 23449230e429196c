"""ReceiverWorker: arq's Worker with our claim, wake-up, lease and finish.

arq runs a job, by its own ``run_job``; when it is given one, and what becomes of it, is decided here::

    doorbell ──┐
    free slot ─┼─▶ claim ─▶ run_job ─▶ runner ─▶ finish
    due retry ─┘              ▲
                              └── heartbeat, canceller: stop
"""

import asyncio
import itertools
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from functools import partial
from signal import Signals
from typing import Any

import structlog
from arq.connections import ArqRedis
from arq.worker import Worker, func

from receiver import __version__
from receiver.protocol.errors import ReceiverError, StartupError
from receiver.protocol.outcome import Outcome
from receiver.queue import FUNCTION, deserialize, serialize
from receiver.receiver import Receiver
from receiver.settings import Settings
from receiver.store.checks import check_server
from receiver.store.record import ClaimedRun
from receiver.store.runs import QueueShare
from receiver.tools.tool import PLAIN_LANE
from workers.actor import keep_going
from workers.canceller import keep_cancelling
from workers.doorbell import Doorbell
from workers.equipment import Equipment
from workers.handover import CURRENT, Handover
from workers.heartbeat import Heartbeat
from workers.janitor import keep_sweeping
from workers.recoverer import keep_recovering
from workers.roster import ActiveRun, Roster
from workers.runner import STOP_SECONDS, Runner

POLL_SECONDS = 1.0  # a lost signal of the doorbell delays a task by no more than this

log = structlog.get_logger(__name__)


class ReceiverWorker(Worker):
    """Runs the tools of ``app``.  ``lanes``: those that it serves, None for all; ``burst``: until nothing waits."""

    def __init__(
        self,
        functions: Sequence[object] = (),
        *,
        app: Receiver,
        settings: Settings,
        lanes: Sequence[str] | None = None,
        equipment: Equipment | None = None,
        burst: bool = False,
        handle_signals: bool = True,
    ) -> None:
        self.app = app
        self.settings = settings
        self.equipment = equipment or Equipment.connect(settings)
        self.roster = Roster(settings.worker_concurrency, settings.plain_reserved_slots)
        self.queues = [
            QueueShare(name, cap, name.partition(":")[0] == PLAIN_LANE) for name, cap in app.tools.queues(lanes).items()
        ]
        self.runner = Runner(app, self.equipment.runs, settings)
        self.doorbell = Doorbell(
            self.equipment.redis, self.equipment.keys, self.equipment.worker, self.queues, self.roster, self._ring
        )
        self._wake = asyncio.Event()
        self._stopping = asyncio.Event()
        self._hurry = asyncio.Event()
        self._background: set[asyncio.Task[Any]] = set()
        super().__init__(
            [func(self._execute, name=FUNCTION, keep_result=0)],
            queue_name=self.equipment.keys.queue("default"),
            redis_pool=ArqRedis(connection_pool=self.equipment.redis.connection_pool),
            burst=burst,
            handle_signals=handle_signals,
            max_jobs=settings.worker_concurrency,
            job_timeout=None,  # type: ignore[arg-type] # the runner keeps time; arq takes None, and does not say so
            keep_result=0,
            job_serializer=serialize,
            job_deserializer=deserialize,
            log_results=False,
        )

    def run(self) -> None:
        """Runs until it is told to stop.  What makes a start impossible is one line, and exit code 2."""
        try:
            super().run()
        except StartupError as error:
            print(f"receiver: {error}", file=sys.stderr)
            sys.exit(2)

    async def main(self) -> None:
        """arq's main loop: opens, takes jobs until it shall stop, and lets them end."""
        async with AsyncExitStack() as stack:
            await self._open(stack)
            try:
                await self._take_jobs()
            finally:
                await self._drain()

    def handle_sig(self, signum: Signals) -> None:
        """The first signal ends claiming and starts the grace period, the second ends that."""
        if self._stopping.is_set():
            self._hurry.set()
        self._stopping.set()
        self._wake.set()
        if self.on_stop:
            self.on_stop(Signals(signum))

    async def close(self) -> None:
        """Waits for finishes on their way, then gives back what is left."""
        self._stopping.set()
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)
        await self.equipment.redis.aclose(close_connection_pool=True)

    def stop_run(self, task_id: str, reason: Any) -> None:
        """Tells the run of a task to stop, if it is here."""
        if active := self.roster.get(task_id):
            active.stop(reason)

    # Opening

    async def _open(self, stack: AsyncExitStack) -> None:
        warning = await check_server(self.equipment.redis, self.settings.require_redis_url())
        if warning:
            log.warning("redis_check", detail=warning)
        self.runner.state = await self._enter_lifespan(stack)
        heartbeat = self._make_heartbeat()
        heartbeat.start()
        stack.push_async_callback(self._leave, heartbeat)
        for name, work in self._actors():
            stack.callback(self._start_background(keep_going(name, work)).cancel)
        log.info("worker_started", worker=self.equipment.worker, queues=[queue.name for queue in self.queues])

    async def _enter_lifespan(self, stack: AsyncExitStack) -> Any:
        if self.app.lifespan is None:
            return None
        try:
            return await stack.enter_async_context(self.app.lifespan(self.app))
        except Exception as error:
            log.exception("lifespan_failed")
            raise StartupError(f"the lifespan of {self.app.name!r} failed: {type(error).__name__}: {error}") from error

    def _make_heartbeat(self) -> Heartbeat:
        host, pid, _ = self.equipment.worker.split(":")
        queues = " ".join(queue.name for queue in self.queues)
        presence = {"host": host, "pid": pid, "version": __version__, "app": self.app.name, "queues": queues}
        return Heartbeat(
            self.equipment.beats,
            self.equipment.worker,
            self.roster,
            self.stop_run,
            presence=presence | {"slots": self.settings.worker_concurrency},
            interval=self.settings.lease_seconds / 4,
            stall_seconds=self.settings.stall_seconds,
        )

    def _actors(self) -> list[tuple[str, Callable[[], Any]]]:
        kit = self.equipment
        return [
            ("doorbell", self.doorbell.keep_listening),
            ("canceller", partial(keep_cancelling, kit.redis, kit.keys, kit.worker, kit.tasks, self.roster)),
            ("recoverer", partial(keep_recovering, kit.runs, self.settings.lease_seconds / 4)),
            ("janitor", partial(keep_sweeping, kit.runs)),
        ]

    # Taking jobs

    async def _take_jobs(self) -> None:
        for number in itertools.count(1):
            self._wake.clear()
            claims, due = await self._claim(number)
            for active in self.roster.add(claims, number):
                self._start(active)
            if self._stopping.is_set() or (self.burst and not claims and not self.roster):
                return
            await self._rest(POLL_SECONDS if due is None else min(POLL_SECONDS, due / 1000))

    async def _claim(self, number: int) -> tuple[list[ClaimedRun], int | None]:
        """The next claim; none when the worker shall stop, even if the store is away just now."""
        _, running = self.roster.snapshot()
        claim = self.equipment.runs.claim(self.equipment.worker, number, self.roster.slots, self.queues, running)
        claiming = asyncio.ensure_future(claim)
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({claiming, stopping}, return_when=asyncio.FIRST_COMPLETED)
            return claiming.result() if claiming.done() else ([], None)
        finally:
            for waiting in (claiming, stopping):
                waiting.cancel()

    async def _rest(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._wake.wait(), seconds)
        except TimeoutError:
            return

    def _ring(self) -> bool:
        """The doorbell rang; whether this worker follows it."""
        self._wake.set()
        return not self._stopping.is_set()

    def _start(self, active: ActiveRun) -> None:
        claim = active.claim
        name = f"{self.equipment.keys.job_id(claim.task_id)}#{claim.run}"  # arq must not mix two runs of a task
        token = CURRENT.set(active)
        self.tasks[name] = asyncio.create_task(self.run_job(name, int(claim.text("score"))))
        CURRENT.reset(token)
        self.tasks[name].add_done_callback(partial(self._end, name, active))

    def _end(self, name: str, active: ActiveRun, task: "asyncio.Task[None]") -> None:
        del self.tasks[name]
        self.roster.remove(active)
        self._wake.set()
        if not task.cancelled() and (error := task.exception()):
            log.error("run_failed", task_id=active.claim.task_id, exc_info=error)
        if self.doorbell.is_deaf and not self._stopping.is_set():
            self._start_background(self.doorbell.listen_anew())

    # What arq's run_job calls

    @property
    def pool(self) -> ArqRedis:
        """For ``run_job``: the job from the claim; for all others: the pool."""
        active = CURRENT.get()
        return super().pool if active is None else Handover(active.claim)  # type: ignore[return-value] # stands in

    async def _execute(self, ctx: dict[Any, Any], task_id: str) -> None:
        """The one function that jobs name."""
        active = CURRENT.get()
        if active is None or active.claim.task_id != task_id:
            raise RuntimeError("a job was started without its claim")
        await self.runner.execute(active)

    async def finish_job(self, *arguments: Any) -> None:
        """Nothing is left to do: the script that stored the outcome removed arq's keys."""

    async def finish_failed_job(self, job_id: str, result_data: bytes | None) -> None:
        """arq could not run the job: it is missing, unreadable, or names another function."""
        if active := CURRENT.get():
            await self.runner.finish(active.claim, Outcome.of_error(ReceiverError("The job of this task is damaged")))

    # Ending

    async def _drain(self) -> None:
        """Lets runs finish for the grace period, then stops them; each gives its task back by itself."""
        self._stopping.set()
        if self.tasks:
            log.info("worker_draining", running=len(self.tasks), seconds=self.settings.shutdown_grace_seconds)
            hurry = self._start_background(self._hurry.wait())
            finishing = self._start_background(asyncio.wait(set(self.tasks.values())))
            grace = self.settings.shutdown_grace_seconds
            await asyncio.wait({hurry, finishing}, timeout=grace, return_when=asyncio.FIRST_COMPLETED)
        for active in self.roster.runs():
            active.stop("shutdown")
        if self.tasks:
            await asyncio.wait(set(self.tasks.values()), timeout=2 * STOP_SECONDS)
        for task in self.tasks.values():
            task.cancel()

    async def _leave(self, heartbeat: Heartbeat) -> None:
        heartbeat.end()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await self.equipment.runs.leave(self.equipment.worker)
        except TimeoutError:
            log.warning("worker_left_unheard")  # its leases end by themselves
        log.info("worker_stopped", worker=self.equipment.worker)

    def _start_background(self, work: Coroutine[Any, Any, object]) -> "asyncio.Task[Any]":
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task
