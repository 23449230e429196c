"""A store whose clock stands still until it is moved: fakeredis, with the real scripts."""

import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from redis.asyncio import Redis

from receiver.settings import Settings
from receiver.store.census import Census
from receiver.store.client import Client
from receiver.store.inputs import InputStore
from receiver.store.keys import Keys
from receiver.store.runs import RunStore
from receiver.store.scripts import Argument, load
from receiver.store.steps import StepStore
from receiver.store.subscriptions import SubscriptionStore
from receiver.store.tasks import TaskStore
from receiver.store.workers import WorkerStore
from workers.equipment import Equipment

# Scripts know the time by ``TIME`` alone.  The local ``redis`` hides the one that scripts are given.
_SET_CLOCK = """
local server, clock_ms = redis, tonumber(ARGV[#ARGV])
ARGV[#ARGV] = nil
local redis = {call = function(command, ...)
  if command == 'TIME' then
    return {string.format('%.0f', math.floor(clock_ms / 1000)), string.format('%.0f', clock_ms % 1000 * 1000)}
  end
  return server.call(command, ...)
end}
"""


class Clock:
    """``now`` in ms since the epoch.  Keys expire by the time of the machine, from which it starts."""

    def __init__(self, now: int) -> None:
        self.now = now

    def advance(self, ms: int) -> None:
        """Lets time pass."""
        self.now += ms


class TimedClient(Client):
    """Runs each script at the time of ``clock``."""

    def __init__(self, redis: Redis, keys: Keys, clock: Clock) -> None:
        super().__init__(redis, keys, patience=None, with_flags=False)
        self.clock = clock

    def with_patience(self, patience: float | None) -> "TimedClient":
        return self

    async def evaluate(self, name: str, *arguments: Argument, admitted: bool = False) -> Any:
        head = (2, self.keys.prefix, self.keys.job_prefix)
        return await self.redis.execute_command("EVAL", _source(name, admitted), *head, *arguments, self.clock.now)


@cache
def _source(name: str, admitted: bool) -> str:
    return _SET_CLOCK + load(name, with_flags=False, admitted=admitted).source


@asynccontextmanager
async def open_store(settings: Settings) -> AsyncIterator[tuple[TimedClient, Equipment]]:
    """A new, empty store, and what a worker works with on it.  Raises ImportError where fakeredis is missing."""
    redis, blocking = connect()
    seconds, _ = await redis.time()
    keys = Keys(settings.namespace)
    client = TimedClient(redis, keys, Clock(seconds * 1000))
    try:
        yield (
            client,
            Equipment(
                redis=redis,
                keys=keys,
                runs=RunStore(client, lease=settings.lease_ms),
                tasks=TaskStore(client, task_limit=settings.max_tasks_per_principal, queue_limit=settings.queue_limit),
                inputs=InputStore(client),
                steps=StepStore(client),
                subscriptions=SubscriptionStore(client, limit=settings.max_subscriptions),
                beats=WorkerStore(blocking, keys, lease=settings.lease_ms, with_flags=False),
                census=Census(client),
            ),
        )
    finally:
        await redis.aclose(close_connection_pool=True)
        blocking.close()


def connect() -> tuple[Any, Any]:
    """A client for the event loop and a blocking one, of a new, empty fakeredis.  Raises ImportError."""
    try:
        importlib.import_module("lupa")  # by which fakeredis runs scripts
        from fakeredis import FakeAsyncRedis, FakeRedis, FakeServer
    except ImportError as error:
        text = "receiver.testing needs fakeredis with Lua: install mcp-task-receiver[testing]"
        raise ImportError(text, name=error.name) from error
    server = FakeServer()
    return FakeAsyncRedis(server=server), FakeRedis(server=server)
