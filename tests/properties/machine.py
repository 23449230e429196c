"""The machine under the rules: a store, what is known of it outside, and what is checked after each step."""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant

from receiver.protocol.lifecycle import TERMINAL
from receiver.session import Session
from receiver.store.keys import Keys
from receiver.store.record import ClaimedRun
from tests.leaks import expire_all, find_remains
from tests.properties.invariants import CAP, QUEUES, check_all, check_queues
from tests.properties.snapshot import Snapshot
from tests.properties.wire import Wire
from tests.store.backends import Backend
from tests.store.clients import ANSWER, Connection, begin_session
from tests.store.world import World, finish, share

T = TypeVar("T")

OWNERS = ("ada", "bob")
WORKERS = ("w0", "w1")
SLOTS = 4
DOUBT = 1000  # ms round the end of a ttl or lease in which a slow machine may see either

anyone = st.sampled_from(OWNERS)
any_worker = st.sampled_from(WORKERS)
any_place = st.integers(0, 9)  # one of those that there are
seldom = st.sampled_from((False, False, False, True))


def pick(choices: Sequence[T], place: int) -> T:
    """One of ``choices``, of which there is one at least; the last ones first, since they are the newest."""
    return choices[-1 - place % len(choices)]


@dataclass(frozen=True)
class Known:
    """A task as its creator knows it; ``expires_at`` by the clock of the machine."""

    id: str
    owner: str
    kind: str
    expires_at: int
    max_attempts: int


@dataclass
class Worker:
    """What a worker believes.  ``unheard``: a claim whose reply was lost, which it will send again."""

    name: str
    number: int = 0
    acknowledged: int = 0
    runs: dict[str, ClaimedRun] = field(default_factory=dict)
    unheard: tuple[int, int, dict[str, int]] | None = None


class StoreMachine(RuleBasedStateMachine):
    """``moved``: by how many ms the store's times were moved back.  ``rung``: whether bells tell of all queues now."""

    backend: Backend

    def __init__(self) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        redis, blocking = self.backend.connect()
        self.wire = Wire(redis, Keys(), with_flags=self.backend.server is not None)
        self.world = World(self.backend, redis, blocking, self.wire)
        self.known: dict[str, Known] = {}
        self.workers = {name: Worker(name) for name in WORKERS}
        self.crashes = 0
        self.sessions: dict[str, list[Session]] = {}
        self.streams: list[Connection] = []
        self.finished: list[str] = []
        self.moved = 0
        self.rung = True
        self.before = self.now = self.run(self._take())

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(coroutine)

    @initialize()
    def begin_sessions(self) -> None:
        for owner in OWNERS:
            self.sessions[owner] = [self.run(begin_session(self.world, owner))]

    # What is known

    def lives(self, task_id: str) -> bool | None:
        """Whether a task has not expired; None where a slow machine may see either."""
        rest = self.known[task_id].expires_at - self.now.taken_at
        return None if abs(rest) < DOUBT else rest > 0

    def living(self, owner: str = "", kind: str = "") -> list[str]:
        return [
            task_id
            for task_id, known in self.known.items()
            if self.lives(task_id) and owner in ("", known.owner) and kind in ("", known.kind)
        ]

    def runs(self) -> list[tuple[Worker, ClaimedRun]]:
        """What workers believe to run."""
        return [(worker, run) for worker in self.workers.values() for run in worker.runs.values()]

    async def _take(self) -> Snapshot:
        return Snapshot(self.world.keys, await self.world.dump(), await self.world.now(), self.moved)

    def look(self) -> None:
        """Looks at the store again."""
        self.now = self.run(self._take())

    # What is checked

    @invariant()
    def holds(self) -> None:
        self.wire.loses = False
        self.look()
        dead = {task_id for task_id in self.known if not self.lives(task_id)}
        check_all(self.before, self.now, self.living(), dead)
        check_queues(self.now, rung=self.rung)
        for owner in OWNERS:
            listed = self.now.members_of(self.world.keys.owner(owner))
            found = {task_id for task_id in listed if self.now.record(task_id) and self.lives(task_id) is not None}
            assert found == set(self.living(owner, "task")), "what is listed is not what lives"
        self.before = self.now

    def teardown(self) -> None:
        """Everything that was acknowledged comes to an end, and leaves nothing behind."""
        try:
            self.run(self._end())
            self.look()
            open_ones = [task_id for task_id in self.living() if self.now.record(task_id)["status"] not in TERMINAL]
            assert not open_ones, "a task was lost"
            assert len(self.finished) == len(set(self.finished)), "a task was finished twice"
            expire_all(self.world.blocking, self.world.keys, with_flags=self.world.with_flags)
            assert find_remains(self.world.blocking, self.world.keys) == []
        finally:
            self.run(self.world.close())
            self._runner.close()

    async def _end(self) -> None:
        """All workers die, clients answer, and a new worker does all that is left to do."""
        keys, redis = self.world.keys, self.world.redis
        await self.world.lose_lease(*await self.world.members(keys.leases()) or ["0-0"])
        for task_id in await self.world.members(keys.later()):
            await redis.zadd(keys.later(), {task_id: 1})
        for task_id in self.known:
            await self._answer_all(task_id)
        while runs := await self.world.claim("last", free=SLOTS, queues=share(*QUEUES, cap=CAP)):
            for run in runs:
                await finish(self.world, run)

    async def _answer_all(self, task_id: str) -> None:
        """The client is given all that a parked task asks, and answers."""
        keys, inputs = self.world.keys, self.now.inputs(task_id)
        owner = self.known[task_id].owner
        session = await begin_session(self.world, owner)
        for name, state in self.now.questions(task_id).items():
            if state == "open":
                request = inputs[f"{name}:id"]
                await self.world.redis.hset(keys.ask(request), f"asked:{session.id}", "1")
                await self.world.inputs.answer(request, session, ANSWER)
