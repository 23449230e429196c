"""A store with what a test of workers does on either side of it: create tasks as the API does, and see them end."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

import orjson
from fakeredis import FakeAsyncRedis, FakeRedis, FakeServer
from redis import Redis as BlockingRedis

from receiver.hub import Hub
from receiver.principal import ANONYMOUS
from receiver.protocol.lifecycle import is_terminal
from receiver.protocol.task_id import new_task_id
from receiver.queue import encode_job
from receiver.receiver import Receiver
from receiver.settings import Settings
from receiver.store.admission import Admission, RateLimit
from receiver.store.client import connect
from receiver.store.record import OUTCOME_FIELDS, Kind, to_progress
from receiver.store.runs import Slots
from receiver.store.scripts import Argument
from receiver.store.tasks import NewTask
from tests.servers import Server
from workers.equipment import Equipment
from workers.queues import Queues
from workers.roster import ActiveRun
from workers.worker import ReceiverWorker

LOOK_SECONDS = 0.005
TTL = 600_000
REQUEST = Admission(ANONYMOUS.owner, "", "", "", 0, RateLimit(0, 1))  # of no session, and without a limit


@dataclass(frozen=True)
class Outcome:
    """What a requestor gets in the end."""

    status: str
    kind: str | None
    payload: Any

    @property
    def text(self) -> str:
        """The first text of a result."""
        text: str = self.payload["content"][0]["text"]
        return text


class Logs:
    """The log lines of a test."""

    def __init__(self, lines: list[MutableMapping[str, Any]]) -> None:
        self.lines = lines

    def of(self, event: str) -> list[MutableMapping[str, Any]]:
        """Those of one event."""
        return [line for line in self.lines if line["event"] == event]


class Stage:
    """A store of its own, empty.  ``redis`` and ``blocking`` are Any: redis-py's annotations fit neither."""

    def __init__(self, redis: Any, blocking: Any, server: Server | None) -> None:
        self.redis = redis
        self.blocking = blocking
        self.server = server
        self.url = "unix://nowhere" if server is None else server.url
        self.with_flags = server is not None
        self.kit = self.equip(self.settings())
        self.keys = self.kit.keys
        self._hub = Hub(redis, self.keys.events, self.kit.tasks.get_statuses)
        self._is_listening = False
        self._claims = 0

    @classmethod
    def open(cls, server: Server | None) -> Self:
        """On a real server, or on fakeredis where there is none."""
        if server is None:
            fake = FakeServer()
            return cls(FakeAsyncRedis(server=fake), FakeRedis(server=fake), None)
        blocking = BlockingRedis.from_url(server.url)
        blocking.flushall()
        return cls(connect(server.url), blocking, server)

    async def close(self) -> None:
        """Gives the connections back."""
        await self._hub.stop()
        await self.redis.aclose(close_connection_pool=True)
        self.blocking.close()

    def settings(self, **values: Any) -> Settings:
        """Settings for a worker on this store."""
        return Settings(**{"redis_url": self.url, "lease_seconds": 1, **values})

    def equip(self, settings: Settings) -> Equipment:
        """What a worker on this store works with, over the connections of the stage."""
        return Equipment.of(self.redis, self.blocking, settings, with_flags=self.with_flags)

    # The requestor's side

    async def create(
        self,
        app: Receiver,
        tool: str,
        *,
        method: str = "tools/call",
        kind: Kind = "task",
        ttl: int = TTL,
        record: Any = None,
        **arguments: Any,
    ) -> str:
        """Creates a task or a call as the API does; ``record`` are fields to have otherwise, None for none."""
        known = app.find_operation(method, tool)
        as_task = kind == "task"
        fields: dict[str, Argument | None] = {
            "tool": tool,
            "method": method,
            "params": orjson.dumps(arguments),
            "principal": orjson.dumps(ANONYMOUS.to_json()),
            "poll_interval": 1000,
            "max_attempts": 3 if known is None else known.attempts_for(as_task=as_task, default=3),
            "timeout": None if known is None else known.timeout_ms,
            **(record or {}),
        }
        queue = "default" if known is None else known.queue_for(as_task=as_task)
        written = {name: value for name, value in fields.items() if value is not None}
        task_id = new_task_id()
        new = NewTask(task_id, ANONYMOUS.owner, queue, kind, ttl, encode_job(task_id), written)
        await self.kit.tasks.create(REQUEST, new)
        return task_id

    async def outcome(self, task_id: str) -> Outcome:
        """How the task ends, once it does."""
        if not self._is_listening:
            self._is_listening = True
            self._hub.start()
        async with self._hub.watch(task_id) as watch:
            while not is_terminal((end := to_progress(0, await self._read(task_id, *OUTCOME_FIELDS))).status):
                await watch.wait()
        return Outcome(end.status, end.outcome, None if end.payload is None else orjson.loads(end.payload))

    async def call(self, app: Receiver, tool: str, **options: Any) -> Outcome:
        """Creates a task and waits for its end."""
        return await self.outcome(await self.create(app, tool, **options))

    async def cancel(self, task_id: str) -> None:
        """Cancels a task."""
        await self.kit.tasks.cancel(REQUEST, task_id, "no longer wanted")

    async def _read(self, task_id: str, *fields: str) -> list[bytes | None]:
        found: list[bytes | None] = await self.redis.hmget(self.keys.task(task_id), fields)
        return found

    async def record(self, task_id: str) -> dict[str, str]:
        """All fields of a task."""
        fields = await self.redis.hgetall(self.keys.task(task_id))
        return {name.decode(): value.decode() for name, value in fields.items()}

    # The worker's side

    async def claim(self, app: Receiver, count: int = 1, worker: str | None = None) -> list[ActiveRun]:
        """The next runs, for the stage's own worker or another."""
        self._claims += 1
        queues = list(Queues(app.tools.queues())) or list(Queues({"default": None}))
        slots = Slots(count, count)
        claims, _ = await self.kit.runs.claim(worker or self.kit.worker, self._claims, slots, queues, {})
        return [ActiveRun(claim) for claim in claims]

    @asynccontextmanager
    async def working(
        self, app: Receiver, /, *, equipment: Equipment | None = None, lanes: Any = None, **settings: Any
    ) -> AsyncIterator[ReceiverWorker]:
        """A worker in this process; it is told to stop, and to hurry, at the end of the block."""
        worker = ReceiverWorker(
            app=app, settings=self.settings(**settings), equipment=equipment, lanes=lanes, handle_signals=False
        )
        running = asyncio.create_task(worker.async_run())
        try:
            await until(lambda: worker._is_open or running.done())
            yield worker
        finally:
            for _ in range(2):
                worker.handle_sig(signal.SIGTERM)
            await running
            await worker.close()


async def until(condition: Callable[[], Awaitable[object] | object]) -> None:
    """Returns when ``condition`` holds; the timeout of the test is the limit."""
    while True:
        found = condition()
        if await found if isinstance(found, Awaitable) else found:
            return
        await asyncio.sleep(LOOK_SECONDS)
