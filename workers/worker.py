"""ReceiverWorker: arq's Worker with our claim, wake-up, lease and finish.

arq has the process: its signals, its hooks, its command line.  Its own ``run_job`` would ask Redis for what the claim
brought along, and write what the script does that ends a run; it is a quarter of what a task costs a worker::

    doorbell ──┐
    free slot ─┼─▶ claim ─▶ runner ─▶ finish
    due retry ─┘              ▲
                              └── heartbeat, listener: stop
"""

import asyncio
import itertools
import sys
from collections.abc import Collection, Iterable
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from functools import partial
from signal import Signals
from typing import Any

import structlog
from arq.connections import ArqRedis
from arq.typing import StartupShutdown
from arq.worker import Worker, func

from receiver.protocol.errors import ReceiverError, StartupError
from receiver.protocol.outcome import Outcome
from receiver.queue import FUNCTION, deserialize, is_job_of, serialize
from receiver.receiver import Receiver
from receiver.settings import Settings
from receiver.store.checks import check_server
from receiver.store.record import ClaimedRun
from receiver.telemetry.logs import bind
from workers.actor import Actors
from workers.doorbell import Doorbell
from workers.equipment import Equipment
from workers.exporter import expose_metrics
from workers.heartbeat import Heartbeat
from workers.janitor import keep_sweeping, keep_sweeping_sessions
from workers.lifespan import enter_lifespan
from workers.listener import keep_hearing
from workers.patience import wait_until
from workers.queues import Queues
from workers.recoverer import keep_recovering
from workers.rereader import keep_rereading
from workers.roster import ActiveRun, Roster
from workers.runner import STOP_SECONDS, Runner
from workers.signals import relaying
from workers.threads import Threads

POLL_SECONDS = 1.0  # a lost signal of the doorbell delays a task by no more than this
EXIT_WORN = 70  # a supervisor shall start another

log = structlog.get_logger(__name__)


class ReceiverWorker(Worker):
    """Runs the tools of ``app``.  ``lanes``: those that it serves, None for all; ``burst``: until nothing waits."""

    def __init__(
        self,
        functions: Iterable[object] = (),
        *,
        app: Receiver,
        settings: Settings,
        lanes: Collection[str] | None = None,
        equipment: Equipment | None = None,
        burst: bool = False,
        handle_signals: bool = True,
    ) -> None:
        self.app = app
        self.settings = settings
        self.equipment = kit = equipment or Equipment.connect(settings)
        self.queues = Queues(app.tools.queues(lanes))
        reserved = settings.plain_reserved_slots if self.queues.have_plain else 0
        self.roster = Roster(settings.worker_concurrency, reserved)
        self.runner = Runner(app, kit, settings, Threads(self._retire))
        self.runner.processes.check(app)
        self.doorbell = Doorbell(kit.redis, kit.keys, kit.worker, self.queues, self.roster, self._ring)
        self.actors = Actors()
        self._wake = asyncio.Event()
        self._stopping = asyncio.Event()
        self._hurry = asyncio.Event()
        self._is_open = False
        self._is_worn = False
        super().__init__(
            [func(self._execute, name=FUNCTION, keep_result=0)],
            queue_name=kit.keys.queue("default"),
            redis_pool=ArqRedis(connection_pool=kit.redis.connection_pool),
            burst=burst,
            handle_signals=handle_signals,
            max_jobs=settings.worker_concurrency,
            job_timeout=None,  # type: ignore[arg-type] # the runner keeps time; arq takes None, and does not say so
            max_tries=sys.maxsize,  # the runner and the store count attempts
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
        if self._is_worn:
            sys.exit(EXIT_WORN)

    async def main(self) -> None:
        """arq's main loop: opens, takes jobs until it shall stop, and lets them end."""
        bind(worker_id=self.equipment.worker)  # of this asyncio task, and of all that it starts
        async with AsyncExitStack() as stack:
            await self._open(stack)
            self._is_open = True
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
        if not self._is_open and self.main_task is not None:
            self.main_task.cancel()  # a lifespan may take its time
        if self.on_stop:
            self.on_stop(Signals(signum))

    async def close(self) -> None:
        """Gives the connections back, after ``main``."""
        self._stopping.set()
        if self.tasks:
            await asyncio.wait(set(self.tasks.values()), timeout=STOP_SECONDS)
        await self.equipment.redis.aclose(close_connection_pool=True)

    # Opening

    async def _open(self, stack: AsyncExitStack) -> None:
        kit, pace = self.equipment, self.settings.lease_seconds / 4
        warning = await check_server(kit.redis, self.settings.require_redis_url(), self.settings.durability)
        if warning:
            log.warning("redis_check", detail=warning)
        expose_metrics(self.app, self.settings.metrics_port, stack)
        self.runner.state = await enter_lifespan(self.app, stack)
        presence = kit.describe(self.app, self.queues, self.settings.worker_concurrency)
        relay = stack.enter_context(relaying(self._handle_signals))
        is_late = partial(relay.is_late, self.settings.shutdown_grace_seconds)
        heartbeat = Heartbeat(kit.beats, kit.worker, self.roster, presence, pace, self.settings.stall_seconds, is_late)
        heartbeat.start()
        stack.push_async_callback(self._leave, heartbeat)
        stack.push_async_callback(self.actors.stop)
        stack.push_async_callback(self.runner.processes.close)
        listener = partial(keep_hearing, kit.redis, kit.keys, kit.worker, kit.tasks, self.roster)
        self.actors.keep_going("doorbell", self.doorbell.keep_listening)
        self.actors.keep_going("listener", listener)
        self.actors.keep_going("rereader", partial(keep_rereading, kit.inputs, self.roster))
        self.actors.keep_going("recoverer", partial(keep_recovering, kit.runs, pace))
        self.actors.keep_going("janitor", partial(keep_sweeping, kit.runs))
        self.actors.keep_going("sessions", partial(keep_sweeping_sessions, kit.census))
        log.info("worker_started", queues=[queue.name for queue in self.queues])

    # Taking jobs

    async def _take_jobs(self) -> None:
        for number in itertools.count(1):
            self._wake.clear()
            if self._stopping.is_set():
                return
            was_idle = not self.roster
            claims, due = await self._claim(number)
            for active in self.roster.add(claims, number):
                self._start(active)
            if self.burst and was_idle and not claims:
                return
            if self.doorbell.is_deaf:
                self.actors.spawn(self.doorbell.listen_anew())
            await self._rest(POLL_SECONDS if due is None else min(POLL_SECONDS, due / 1000))

    async def _claim(self, number: int) -> tuple[list[ClaimedRun], int | None]:
        """The next claim; none when the worker shall stop, even if the store is away just now.

        What a claim brought whose reply is not waited for goes back with the next heartbeat.
        """
        _, running = self.roster.snapshot()
        kit, queues = self.equipment, self.queues.in_turn(number)
        claim = kit.runs.claim(kit.worker, number, self.roster.slots, queues, running)
        claiming = await wait_until(self._stopping, claim)
        if not claiming.done():
            return [], None
        if error := claiming.exception():
            log.error("claim_failed", exc_info=error)
            return [], None
        return claiming.result()

    async def _rest(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()

    def _ring(self) -> bool:
        """The doorbell rang; whether this worker follows it."""
        self._wake.set()
        return not self._stopping.is_set()

    def _start(self, active: ActiveRun) -> None:
        claim = active.claim
        active.waits.on_wait = self._wake.set  # it gives its slot back
        name = f"{self.equipment.keys.job_id(claim.task_id)}#{claim.run}"  # two runs of a task must not be mixed
        self.tasks[name] = asyncio.create_task(self._run(active))
        self.tasks[name].add_done_callback(partial(self._end, name, active))

    async def _run(self, active: ActiveRun) -> None:
        """One run; whatever fails on it, the task gets an end, or it would be claimed for ever."""
        try:
            if not is_job_of(active.claim.task_id, active.claim.job):
                await self.runner.finish(active, Outcome.of_error(ReceiverError("The job of this task is damaged")))
                return
            await self._call(self.on_job_start, active)
            await self.runner.execute(active)
            await self._call(self.on_job_end, active)
            await self._call(self.after_job_end, active)
        except Exception:
            log.exception("run_failed", task_id=active.claim.task_id, run=active.claim.run)
        this = asyncio.current_task()
        if not active.is_settled and this is not None and not this.cancelling():
            await self.runner.give_up(active)

    async def _call(self, hook: StartupShutdown | None, active: ActiveRun) -> None:
        """One of arq's hooks for jobs."""
        if hook is not None:
            claim = active.claim
            created = datetime.fromtimestamp(int(claim.text("created_at")) / 1000, tz=UTC)
            about = {"job_id": self.equipment.keys.job_id(claim.task_id), "job_try": claim.attempt}
            await hook({**self.ctx, **about, "enqueue_time": created, "score": int(claim.text("created_at"))})

    def _end(self, name: str, active: ActiveRun, task: "asyncio.Task[None]") -> None:
        del self.tasks[name]
        if active.is_settled or active.may_run_again:  # else nobody shall think that this worker does not have it
            self.roster.remove(active)
        self._wake.set()
        if not task.cancelled() and (error := task.exception()):
            log.error("run_failed", task_id=active.claim.task_id, run=active.claim.run, exc_info=error)

    async def _execute(self, ctx: dict[Any, Any], task_id: str) -> None:
        """The one function that jobs name, for arq; runs begin with their claims."""
        raise RuntimeError("a job was started without its claim")

    # Ending

    def _retire(self) -> None:
        """Too many threads run on that were given up."""
        if not self._stopping.is_set():
            log.critical("worker_worn")
            self._is_worn = True
            self._stopping.set()
            self._wake.set()

    async def _drain(self) -> None:
        """Lets runs finish for the grace period, then stops them; each gives its task back by itself.

        Runs that only wait give it back at once.
        """
        self._stopping.set()
        for active in self.roster.runs():
            active.leave()
        if self.tasks:
            grace = self.settings.shutdown_grace_seconds
            log.info("worker_draining", running=len(self.tasks), seconds=grace)
            await wait_until(self._hurry, asyncio.wait(set(self.tasks.values())), grace)
        for active in self.roster.runs():
            active.stop("shutdown")
        if self.tasks:
            await asyncio.wait(set(self.tasks.values()), timeout=2 * STOP_SECONDS)
        for task in self.tasks.values():
            task.cancel()

    def _unsettled(self) -> list[str]:
        """The tasks whose runs have an end that did not reach the store, and must not be run again."""
        return [active.claim.task_id for active in self.roster.runs() if not active.may_run_again]

    async def _leave(self, heartbeat: Heartbeat) -> None:
        await heartbeat.end(STOP_SECONDS)  # a beat after it would bring the worker back
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await self.equipment.runs.leave(self.equipment.worker, self._unsettled())
        except TimeoutError:
            log.warning("worker_left_unheard")  # its leases end by themselves
        log.info("worker_stopped")
