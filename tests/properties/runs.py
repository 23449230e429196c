"""Rules of how runs begin: tasks are created and claimed, and workers come, beat and go."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from receiver.store.record import ClaimedRun
from tests.properties.invariants import CAP, QUEUES
from tests.properties.machine import (
    OWNERS,
    SLOTS,
    WORKERS,
    Known,
    StoreMachine,
    Worker,
    any_worker,
    anyone,
    pick,
    seldom,
)
from tests.store.world import by, new_task, share

NEW = 9  # of the places: something new


class RunRules(StoreMachine):
    """``loses``: the reply of a call is lost, and it is sent again; ``unheard``: all its replies are lost."""

    @rule(
        owner=anyone,
        queue=st.sampled_from(QUEUES),
        ttl=st.sampled_from((62_500, 302_500)),
        attempts=st.sampled_from((1, 3)),
        loses=seldom,
    )
    def create(self, owner: str, queue: str, ttl: int, attempts: int, loses: bool) -> None:
        kind = "call" if queue.startswith("plain") else "task"
        session = self.sessions[owner][-1].id
        new = new_task(owner, queue=queue, kind=kind, ttl=ttl, max_attempts=attempts, session=session)  # type: ignore[arg-type]
        self.wire.loses = loses
        at = self.run(self.world.tasks.create(by(owner), new))
        self.known[new.id] = Known(new.id, owner, kind, at + self.moved + ttl, attempts)

    @rule(name=any_worker, free=st.integers(1, SLOTS), unheard=seldom, loses=seldom)
    def claim(self, name: str, free: int, unheard: bool, loses: bool) -> None:
        worker = self.workers[name]
        is_new = worker.unheard is None
        if worker.unheard is None:
            worker.number += 1
            runs = {task_id: run.run for task_id, run in worker.runs.items()}
            worker.unheard = worker.number, min(free, SLOTS - len(runs)), runs
        claim, free, runs = worker.unheard
        options: dict[str, Any] = {"number": claim, "free": free, "open": max(0, free - 1), "running": runs}
        self.wire.loses = loses
        brought = self.run(self.world.claim(worker.name, queues=share(*QUEUES, cap=CAP), **options))
        self.rung = not runs and (is_new or self.rung)
        self.check_claim(worker, brought, free)
        if not unheard:
            worker.runs |= {run.task_id: run for run in brought}
            worker.acknowledged, worker.unheard = claim, None

    def check_claim(self, worker: Worker, brought: list[ClaimedRun], free: int) -> None:
        """Each run is the next of its task, and one more attempt unless the one before was handed back."""
        assert not worker.runs.keys() & {run.task_id for run in brought}, "it was given what it runs already"
        assert len(brought) <= free
        for run in brought:
            old = self.now.record(run.task_id)
            if old["run"] == str(run.run):
                assert old["worker"] == worker.name, "a run was given to two workers"
                continue
            assert run.run == int(old["run"]) + 1
            assert run.attempt == int(old["attempt"]) + ("handed_back" not in old)
            assert run.job == b"job"
            assert old.get("worker", "") == "" or self.may_lose(run.task_id), "its lease had not ended"

    def may_lose(self, task_id: str) -> bool:
        """Whether a lease may be taken over now: it ended, or nearly did, and the store was not away."""
        clock = self.now.hash(self.world.keys.clock())
        here = self.now.store_time
        is_over = self.now.leases[task_id] < here + 1000
        was_away = here - int(clock["seen"]) > 6000 or here < int(clock["hold_until"]) - 1000
        return is_over and not was_away

    @rule(name=any_worker, unheard=seldom, loses=seldom)
    def beat(self, name: str, unheard: bool, loses: bool) -> None:
        worker = self.workers[name]
        for _ in range(1 + loses):
            stops = self.world.beat(*worker.runs.values(), worker=worker.name, acknowledged=worker.acknowledged)
        for task_id, run in worker.runs.items():
            assert (task_id in stops) != self.now.holds_fence(task_id, run.run), "who must stop, and who may go on"
        if not unheard:
            for task_id in stops:
                del worker.runs[task_id]

    @rule(name=any_worker, leaves=st.booleans(), loses=seldom)
    def replace_worker(self, name: str, leaves: bool, loses: bool) -> None:
        """A worker dies, or leaves in order; another has its place, under a name of its own."""
        self.wire.loses = loses
        if leaves:
            self.run(self.world.runs.leave(self.workers[name].name))
        self.crashes += 1
        self.workers[name] = Worker(f"{name}.{self.crashes}")

    def begin(self, place: int, loses: bool) -> tuple[Worker, ClaimedRun]:
        """One of the runs, or a new one; ``loses`` the reply of its next call."""
        if not self.runs() or place == NEW:
            self.start(place)
        self.wire.loses = loses
        return pick(self.runs(), place)

    def start(self, place: int) -> ClaimedRun:
        """A new run, of a worker that is new too if all slots are taken."""
        name = pick(WORKERS, place)
        while True:
            self.create(pick(OWNERS, place), "default", 302_500, 3, False)
            self.holds()
            if len(self.workers[name].runs) >= SLOTS - 1:
                self.replace_worker(name, False, False)
            before = set(self.workers[name].runs)
            self.claim(name, SLOTS, False, False)
            self.holds()
            for task_id, run in self.workers[name].runs.items():
                if task_id not in before:
                    return run
