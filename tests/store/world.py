"""A store to test against, on one of three backends, and what tests do to it by hand."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Self

from redis import Redis as BlockingRedis
from redis.exceptions import ConnectionError

from receiver.principal import Principal
from receiver.protocol.outcome import Outcome
from receiver.protocol.task_id import new_task_id
from receiver.store.admission import ANY_RATE, Admission, RateLimit
from receiver.store.client import Client, connect
from receiver.store.inputs import InputStore
from receiver.store.inspect import Inspector
from receiver.store.interventions import Interventions
from receiver.store.keys import Keys
from receiver.store.record import ClaimedRun, Kind
from receiver.store.runs import QueueShare, RunStore, Slots, Verdict
from receiver.store.scripts import Argument
from receiver.store.sessions import SessionStore
from receiver.store.steps import StepStore
from receiver.store.streams import StreamStore
from receiver.store.subscriptions import SubscriptionStore
from receiver.store.tasks import NewTask, TaskStore
from receiver.store.workers import WorkerStore
from receiver.telemetry import audit
from tests.proxy import Proxy
from tests.store.backends import Backend, TwiceClient

LEASE = 10_000
TTL = 60_000
TASK_LIMIT = 1_000
LABEL = "task:draw"  # of what new_task makes
QUEUE_LIMIT = 2_000
SESSION_IDLE = 1_800_000
SESSION_CAP = 1_000
STREAM_LEASE = 30_000
SUBSCRIPTION_LIMIT = 1_000


def by(
    owner: str, session: str = "", *, operation: str = "", requestor: str = "", limit: RateLimit = ANY_RATE
) -> Admission:
    """A request of ``owner``."""
    caller = audit.client(Principal(owner), operation, 1, "192.0.2.1")._replace(owner=owner)
    return Admission(owner, session, requestor or owner, operation, SESSION_IDLE, limit, caller)


ADA, BOB = by("ada"), by("bob")

DONE = Outcome.of_result({"content": [{"type": "text", "text": "done"}]})
FAILED = Outcome.of_result({"content": [{"type": "text", "text": "no"}], "isError": True})


class World:
    """All stores over one connection.  ``redis`` and ``blocking`` are Any: redis-py's annotations fit neither."""

    def __init__(self, backend: Backend, redis: Any, blocking: Any, client: Client) -> None:
        self.backend = backend
        self.redis = redis
        self.blocking = blocking
        self.client = client
        self.keys = client.keys
        self.with_flags = backend.server is not None
        self.tasks = TaskStore(client, task_limit=TASK_LIMIT, queue_limit=QUEUE_LIMIT)
        self.runs = RunStore(client, lease=LEASE)
        self.sessions = SessionStore(client, idle=SESSION_IDLE, cap=SESSION_CAP)
        self.streams = StreamStore(client, lease=STREAM_LEASE, session_idle=SESSION_IDLE)
        self.subscriptions = SubscriptionStore(client, limit=SUBSCRIPTION_LIMIT)
        self.inputs = InputStore(client)
        self.steps = StepStore(client)
        self.inspector = Inspector(client)
        self.interventions = Interventions(client)
        self.beats = WorkerStore(blocking, self.keys, lease=LEASE, with_flags=self.with_flags)
        self._claims: Counter[str] = Counter()

    @classmethod
    def open(cls, backend: Backend, namespace: str = "mcp") -> Self:
        """A world of its own, empty."""
        redis, blocking = backend.connect()
        return cls(backend, redis, blocking, Client(redis, Keys(namespace), with_flags=backend.server is not None))

    async def close(self) -> None:
        """Gives the connections back."""
        await self.redis.aclose(close_connection_pool=True)
        self.blocking.close()

    @asynccontextmanager
    async def losing_replies(self) -> "AsyncIterator[World]":
        """The same world over a connection that loses the reply of the next call, and of that call only."""
        if self.backend.server is None:
            yield World(self.backend, self.redis, self.blocking, TwiceClient(self.redis, self.keys, with_flags=False))
            return
        async with Proxy(self.backend.server.socket) as proxy:
            lossy = connect(proxy.url)
            blocking = BlockingRedis.from_url(proxy.url)
            await asyncio.gather(lossy.ping(), asyncio.to_thread(blocking.ping))
            proxy.lose_replies()
            yield World(self.backend, lossy, blocking, Client(lossy, self.keys))
            assert proxy.lost == 1, "the call did not go through the proxy"
            await lossy.aclose(close_connection_pool=True)
            blocking.close()

    # Calls, in short

    async def create(self, owner: str = "ada", **options: Any) -> str:
        """Creates a task, as ``new_task`` makes it, and returns its id."""
        new = new_task(owner, **options)
        await self.tasks.create(by(owner), new)
        return new.id

    async def claim(
        self,
        worker: str = "w1",
        *,
        free: int = 10,
        open: int | None = None,
        queues: Sequence[QueueShare] | None = None,
        running: Mapping[str, int] | None = None,
        number: int | None = None,
    ) -> list[ClaimedRun]:
        """What a worker claims; each of its claims gets the next number."""
        if number is None:
            self._claims[worker] += 1
            number = self._claims[worker]
        slots = Slots(free, free if open is None else open)
        return (await self.runs.claim(worker, number, slots, queues or share("default"), running or {}))[0]

    async def claim_one(self, worker: str = "w1", **options: Any) -> ClaimedRun:
        """The one task that there is to claim."""
        (run,) = await self.claim(worker, **options)
        return run

    async def start(self, worker: str = "w1", **options: Any) -> ClaimedRun:
        """A new task, and its first run."""
        queue = options.get("queue", "default")
        task_id = await self.create(**options)
        (run,) = [run for run in await self.claim(worker, queues=share(queue)) if run.task_id == task_id]
        return run

    def beat(self, *runs: ClaimedRun, worker: str = "w1", acknowledged: int | None = None) -> dict[str, str]:
        """A heartbeat of a worker that runs ``runs``; unless told, it knows of all claims that it made."""
        number = self._claims[worker] if acknowledged is None else acknowledged
        return self.beats.beat(worker, number, {"host": "here"}, {run.task_id: run.run for run in runs})

    def beat_until_heard(self, *runs: ClaimedRun, acknowledged: int) -> dict[str, str]:
        """A heartbeat that is sent again, as workers do, when its reply was lost."""
        if self.backend.server is None:
            self.beat(*runs, acknowledged=acknowledged)
        for _ in range(2):
            try:
                return self.beat(*runs, acknowledged=acknowledged)
            except ConnectionError:
                continue
        raise AssertionError("both replies were lost")

    async def recover(self) -> dict[str, str]:
        """Recovers, at a time when no outage holds it back."""
        await self.calm()
        return await self.runs.recover()

    # By hand

    async def now(self) -> int:
        """The store's time in ms."""
        seconds, microseconds = await self.redis.time()
        return int(seconds) * 1000 + int(microseconds) // 1000

    async def calm(self) -> None:
        """As if workers had been heard without a pause for long."""
        await self.redis.hset(self.keys.clock(), mapping={"seen": await self.now(), "hold_until": 0})

    async def lose_lease(self, *task_ids: str) -> None:
        """Ends leases as if their workers had been silent; others may take them over at once."""
        await self.calm()
        await self.redis.zadd(self.keys.leases(), dict.fromkeys(task_ids, 1))

    async def expire(self, task_id: str) -> None:
        """Ends the ttl of a task: what Redis removes by itself is gone, the indexes are not."""
        await self.forget(task_id)
        for entry in await self.redis.zrange(self.keys.expiry(), 0, -1):
            owner, found, *_ = entry.decode().split("/", 2)
            if found == task_id:
                await self.redis.zadd(self.keys.expiry(), {entry: 1})
                await self.redis.zadd(self.keys.active(owner), {found: 1}, xx=True)

    async def forget(self, task_id: str) -> None:
        """Removes by hand what ends with the ttl."""
        own = (
            self.keys.task,
            self.keys.arq_job,
            self.keys.inputs,
            self.keys.steps,
            self.keys.history,
            self.keys.retries,
        )
        await self.redis.delete(*(name(task_id) for name in own))

    async def set_status(self, task_id: str, status: str) -> None:
        """Changes the status without any script."""
        before = (await self.record(task_id))["status"]
        await self.redis.hset(self.keys.task(task_id), "status", status)
        await self.redis.zrem(self.keys.status(before, LABEL), task_id)
        await self.redis.zadd(self.keys.status(status, LABEL), {task_id: await self.now()})

    @asynccontextmanager
    async def listening(self, channel: str) -> AsyncIterator[Callable[[], Awaitable[str]]]:
        """Hears what is published; what it yields returns the next message."""
        async with self.redis.pubsub(ignore_subscribe_messages=True) as pubsub:
            await pubsub.subscribe(channel)
            await pubsub.get_message(timeout=5)  # the acknowledgement

            async def hear() -> str:
                message = await pubsub.get_message(timeout=5)
                assert message is not None, "nothing was published"
                return str(message["data"].decode())

            yield hear

    # Looking

    async def record(self, task_id: str) -> dict[str, str]:
        """All fields of a task."""
        fields = await self.redis.hgetall(self.keys.task(task_id))
        return {name.decode(): value.decode() for name, value in fields.items()}

    async def asked(self, task_id: str) -> list[int]:
        """The numbers of the elicitations that a task has asked for, answered or not."""
        fields = await self.redis.hkeys(self.keys.inputs(task_id))
        names = [field.decode() for field in fields if field.endswith(b":state")]
        return sorted(int(name.removesuffix(":state").partition("#")[2]) for name in names)

    async def ready(self, queue: str = "default") -> list[str]:
        """The task ids in a queue, first to be claimed first."""
        members = await self.redis.zrange(self.keys.queue(queue), 0, -1)
        return [member.decode().removeprefix(self.keys.job_prefix) for member in members]

    async def members(self, key: str) -> list[str]:
        """The members of a zset, or of a set, or the elements of a list."""
        type_ = (await self.redis.type(key)).decode()
        if type_ == "zset":
            found = await self.redis.zrange(key, 0, -1)
        else:
            found = await (self.redis.smembers(key) if type_ == "set" else self.redis.lrange(key, 0, -1))
        return [member.decode() for member in found]

    async def rings(self, queue: str = "default") -> bool:
        """Whether the bell of a queue rings."""
        return bool(await self.redis.exists(self.keys.bell(queue)))

    async def silence(self, *queues: str) -> None:
        """Stops bells."""
        await self.redis.delete(*(self.keys.bell(queue) for queue in queues or ("default",)))

    async def dump(self) -> dict[str, Any]:
        """Everything that there is, with the end of each TTL, but for the audit trail: that grows with each attempt."""
        trail = self.keys.audit().encode()
        keys = sorted(key for key in await self.redis.keys("*") if not key.startswith(trail))
        async with self.redis.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.type(key)
            types = await pipe.execute()
            for key, type_ in zip(keys, types, strict=True):
                _read_all(pipe, type_.decode(), key)
                pipe.pexpiretime(key)
            found = await pipe.execute()
        return {key.decode(): pair for key, *pair in zip(keys, found[::2], found[1::2], strict=True)}


def _read_all(redis: Any, type_: str, key: bytes) -> None:
    if type_ == "zset":
        redis.zrange(key, 0, -1, withscores=True)
    elif type_ == "list":
        redis.lrange(key, 0, -1)
    elif type_ == "stream":
        redis.xrange(key)
    else:
        {"hash": redis.hgetall, "set": redis.smembers, "string": redis.get}[type_](key)


async def until(condition: Callable[[], bool | Awaitable[bool]]) -> None:
    """Returns when ``condition`` holds, for what nobody tells us about; the test's timeout is the end of patience."""

    async def holds() -> bool:
        found = condition()
        return await found if isinstance(found, Awaitable) else found

    while not await holds():  # noqa: ASYNC110 - no event here tells of what happens in another process
        await asyncio.sleep(0.005)


def new_task(
    owner: str = "ada",
    *,
    queue: str = "default",
    kind: Kind = "task",
    ttl: int = TTL,
    max_attempts: int = 3,
    session: str = "",
    request: bytes = b"",
    tool: str = "draw",
) -> NewTask:
    """What there is to know about a task before it exists."""
    fields: dict[str, Argument] = {"tool": tool, "poll_interval": 1000, "max_attempts": max_attempts}
    fields |= {name: value for name, value in (("session", session), ("request", request)) if value}
    return NewTask(new_task_id(), owner, queue, kind, ttl, b"job", fields)


def share(*queues: str, cap: int | None = None) -> list[QueueShare]:
    """Queues as a worker serves them; a name with a colon has a cap, of 1 unless told."""
    return [
        QueueShare(queue, (cap or 1) if ":" in queue else None, queue.partition(":")[0] == "plain") for queue in queues
    ]


async def finish(world: World, run: ClaimedRun, outcome: Outcome = DONE) -> Verdict:
    """Ends a run."""
    return await world.runs.finish(run.task_id, run.run, outcome)
