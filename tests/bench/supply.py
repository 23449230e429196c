"""Tasks in a store as a node would have put them there, without the node: by the call that it makes."""

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Self, cast

import orjson
from redis.asyncio import Redis

from ops.bench.requestor import Requestor, Target
from receiver.principal import Principal
from receiver.protocol.task_id import new_task_id
from receiver.queue import encode_job
from receiver.store.admission import ANY_RATE, Admission
from receiver.store.client import Client
from receiver.store.keys import Keys
from receiver.store.tasks import NewTask, TaskStore
from receiver.telemetry.audit import client
from tests.bench.subject import APP, TOOL
from tests.processes import HOST, Api, Valkey

PRINCIPAL = Principal("alice@example.com", "client", "https://issuer.example.com")  # as the audit trail has it
ABREAST = 16
TTL = 3_600_000
ANY_NUMBER = 10**9
FIELDS = ("method", "protocol", "principal", "session", "capabilities", "poll_interval", "max_attempts")


class Supply:
    """``sample`` is a record that a node wrote; each new task is like it, but for tool, params and owner."""

    def __init__(self, redis: "Redis", sample: Mapping[str, str]) -> None:
        self.redis = redis
        self.keys = Keys()
        self._sample = sample
        self._tasks = TaskStore(Client(redis, self.keys), task_limit=ANY_NUMBER, queue_limit=ANY_NUMBER)

    @classmethod
    async def open(cls, valkey: Valkey) -> Self:
        """Has a node create one task, for the sample, and empties the store."""
        redis = Redis.from_url(valkey.url, max_connections=2 * ABREAST)
        with Api(APP, valkey.url) as api:
            requestor = await Requestor.open(Target(f"{api.url}/mcp", TOOL, {"text": "hello"}))
            task_id = (await requestor.create()).decode()
            requestor.close()
            record: dict[bytes, bytes] = await cast(Any, redis.hgetall(Keys().task(task_id)))
            api.terminate()
        await redis.flushall()
        return cls(redis, {name.decode(): value.decode() for name, value in record.items()})

    async def create(self, tool: str = TOOL, arguments: Any = None, *, owner: str = "") -> str:
        """Creates a task; returns its id."""
        id, owner = new_task_id(), owner or self._sample["owner"]
        fields = {name: self._sample[name] for name in FIELDS if name in self._sample}
        params = orjson.dumps({"text": "hello"} if arguments is None else arguments)
        new = NewTask(
            id, owner, self._sample["queue"], "task", TTL, encode_job(id), {**fields, "tool": tool, "params": params}
        )
        caller = client(PRINCIPAL, "tools/call", 1, HOST, params)._replace(owner=owner)
        await self._tasks.create(Admission(owner, "", owner, "tools/call", TTL, ANY_RATE, caller), new)
        return id

    async def create_many(
        self, count: int, tool: str = TOOL, arguments: Any = None, *, owners: Sequence[str] = ("",)
    ) -> None:
        """Creates so many tasks, the owners in turn."""
        turns = iter(zip(range(count), itertools.cycle(owners), strict=False))

        async def create() -> None:
            for _, owner in turns:
                await self.create(tool, arguments, owner=owner)

        await asyncio.gather(*(create() for _ in range(ABREAST)))

    async def count_ends(self, tool: str = TOOL) -> int:
        """How many of its tasks are over."""
        return int(await self.redis.zcard(self.keys.status("completed", f"task:{tool}")))
