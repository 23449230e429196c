"""What a worker works with: its connections, and the parts of the store that it uses."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from redis import Redis as BlockingRedis
from redis.asyncio import Redis

from receiver import __version__
from receiver.protocol.errors import StartupError
from receiver.receiver import Receiver
from receiver.settings import Settings
from receiver.store.census import Census
from receiver.store.client import Client, connect
from receiver.store.inputs import InputStore
from receiver.store.keys import Keys
from receiver.store.nodes import new_process_id
from receiver.store.pool import connect_blocking
from receiver.store.runs import QueueShare, RunStore
from receiver.store.scripts import Argument
from receiver.store.steps import StepStore
from receiver.store.subscriptions import SubscriptionStore
from receiver.store.tasks import TaskStore
from receiver.store.workers import WorkerStore


@dataclass(frozen=True)
class Equipment:
    """``redis`` serves the event loop, ``beats`` the heartbeat thread; ``runs`` and ``tasks`` never lose patience."""

    redis: Redis
    keys: Keys
    runs: RunStore
    tasks: TaskStore
    inputs: InputStore
    steps: StepStore
    subscriptions: SubscriptionStore
    beats: WorkerStore
    census: Census
    worker: str = field(default_factory=new_process_id)

    @classmethod
    def connect(cls, settings: Settings) -> Self:
        """The equipment for the Redis that the settings name; nothing is sent yet.  Raises StartupError."""
        url = settings.require_redis_url()
        try:
            blocking = connect_blocking(url, seconds=settings.lease_seconds / 4)
            return cls.of(connect(url), blocking, settings)
        except ValueError as error:
            raise StartupError(f"RECEIVER_REDIS_URL is not the URL of a Redis: {error}") from None

    @classmethod
    def of(cls, redis: Redis, blocking: BlockingRedis, settings: Settings, *, with_flags: bool = True) -> Self:
        """The equipment on given connections."""
        keys = Keys(settings.namespace)
        client = Client(redis, keys, patience=None, with_flags=with_flags, audit_events=settings.audit_events)
        return cls(
            redis=redis,
            keys=keys,
            runs=RunStore(client, lease=settings.lease_ms),
            tasks=TaskStore(client, task_limit=settings.max_tasks_per_principal, queue_limit=settings.queue_limit),
            inputs=InputStore(client),
            steps=StepStore(client),
            subscriptions=SubscriptionStore(client, limit=settings.max_subscriptions),
            beats=WorkerStore(blocking, keys, lease=settings.lease_ms, with_flags=with_flags),
            census=Census(client),
        )

    def describe(self, app: Receiver, queues: Iterable[QueueShare], slots: int) -> dict[str, Argument]:
        """What operators see of the worker."""
        host, pid, _ = self.worker.rsplit(":", 2)
        names = " ".join(queue.name for queue in queues)
        return {"host": host, "pid": pid, "version": __version__, "app": app.name, "queues": names, "slots": slots}
