"""Tasks to look at, put into a store by the same scripts that nodes and workers use."""

import itertools
import json
import re
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any

from redis.asyncio import Redis

from receiver.protocol.outcome import Outcome
from receiver.protocol.task_id import new_task_id
from receiver.queue import encode_job
from receiver.store.admission import ANY_RATE, Admission
from receiver.store.client import Client, connect
from receiver.store.inputs import InputStore, Question
from receiver.store.keys import Keys
from receiver.store.record import ClaimedRun, Kind
from receiver.store.runs import QueueShare, RunStore, Slots
from receiver.store.steps import Recorded, StepStore
from receiver.store.tasks import NewTask, TaskStore

HOUR = 3_600_000
LEASE = 600_000
ADA, BOB = "a" * 32, "b" * 32
DONE: dict[str, Any] = {"content": [{"type": "text", "text": "done"}]}


class Stock:
    """A store of one namespace."""

    def __init__(self, url: str, namespace: str = "mcp") -> None:
        self.redis: Any = connect(url)
        self.keys = Keys(namespace)
        client = Client(self.redis, self.keys)
        self.tasks = TaskStore(client, task_limit=10**9, queue_limit=10**9)
        self.runs = RunStore(client, lease=LEASE)
        self.steps = StepStore(client)
        self.inputs = InputStore(client)
        self._claims = itertools.count(1)
        self._queues = itertools.count(1)
        self._worker = f"worker-{secrets.token_hex(3)}"

    async def _claim(self, queue: str, worker: str) -> ClaimedRun:
        share = QueueShare(queue, None, is_plain=False)
        claimed, _ = await self.runs.claim(worker, next(self._claims), Slots(1, 1), [share], {})
        await self.redis.hdel(self.keys.served(), queue)
        (run,) = claimed
        return run

    async def close(self) -> None:
        """Gives the connections back."""
        await self.redis.aclose(close_connection_pool=True)

    async def create(
        self,
        tool: str = "draw",
        *,
        owner: str = ADA,
        queue: str = "default",
        kind: Kind = "task",
        arguments: Mapping[str, Any] | None = None,
        max_attempts: int = 3,
    ) -> str:
        """The id of a new task, which waits in its queue."""
        params = json.dumps({"name": tool, "arguments": arguments or {}}, ensure_ascii=False)
        principal = json.dumps({"subject": "ada", "client": "", "issuer": "", "scopes": []})
        id = new_task_id()
        fields: dict[str, Any] = {"schema": 1, "tool": tool, "method": "tools/call", "params": params}
        fields |= {"principal": principal, "protocol": "2025-11-25", "poll_interval": 1000}
        fields |= {"max_attempts": max_attempts}
        new = NewTask(id, owner, queue, kind, HOUR, encode_job(id), fields)
        await self.tasks.create(Admission(owner, "", owner, "", 0, ANY_RATE), new)
        return id

    async def start(self, tool: str = "draw", worker: str | None = None, **options: Any) -> ClaimedRun:
        """A new task that runs, in a worker that is none."""
        queue = f"lane-{next(self._queues)}"  # so that no other is claimed in its place
        task_id = await self.create(tool, queue=queue, **options)
        run = await self._claim(queue, worker or self._worker)
        assert run.task_id == task_id
        return run

    async def resume(self, run: ClaimedRun, worker: str) -> ClaimedRun:
        """The next run of a task that was given back."""
        return await self._claim(run.text("queue"), worker)

    async def finish(self, tool: str = "draw", result: Mapping[str, Any] = DONE, **options: Any) -> str:
        """The id of a task that is over; it failed if the result says ``isError``."""
        run = await self.start(tool, **options)
        await self.runs.finish(run.task_id, run.run, Outcome.of_result(dict(result)))
        return run.task_id

    async def fail(self, text: str = "no", tool: str = "draw", **options: Any) -> str:
        """The id of a task that failed."""
        return await self.finish(tool, {"content": [{"type": "text", "text": text}], "isError": True}, **options)

    async def end(self, run: ClaimedRun, text: str = "done") -> None:
        """Ends a run well."""
        await self.runs.finish(run.task_id, run.run, Outcome.of_result({"content": [{"type": "text", "text": text}]}))

    async def ask(self, run: ClaimedRun, text: str) -> None:
        """A run asks something."""
        id, method = f"ask-{secrets.token_hex(8)}", "elicitation/create"
        params = {"message": text, "requestedSchema": {"type": "object", "properties": {"sure": {"type": "boolean"}}}}
        body = json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode()
        await self.inputs.ask(run.task_id, run.run, Question(f"{method}#1", "d", id, method, body))

    async def remember(self, run: ClaimedRun, step: str, value: bytes) -> None:
        """A run records a step."""
        await self.steps.remember(run.task_id, run.run, step, Recorded("d", value))

    async def cancel(self, tool: str = "draw", **options: Any) -> str:
        """The id of a task that its requestor cancelled."""
        task_id = await self.create(tool, **options)
        owner = str(options.get("owner", ADA))
        await self.tasks.cancel(Admission(owner, "", owner, "", 0, ANY_RATE), task_id, "Cancelled by request")
        return task_id

    async def spread(self, task_id: str, begun: int, ages: Sequence[int]) -> None:
        """Lets a task have begun ``begun`` ms ago, and each event of its history be so many ms old."""
        now, key, task = round(time.time() * 1000), self.keys.history(task_id), self.keys.task(task_id)
        for place, (entry, age) in enumerate(zip(await self.redis.lrange(key, 0, -1), ages, strict=True)):
            _, name, detail = entry.decode().split(" ", 2)
            started = now - (age if name == "started" else begun)
            detail = re.sub(r"started_at=\d+", f"started_at={started}", detail)
            await self.redis.lset(key, place, f"{now - age} {name} {detail}")
        await self.redis.hset(task, mapping={"created_at": now - begun - 1_200, "started_at": now - ages[-1]})

    async def record(self, task_id: str) -> dict[str, str]:
        """All fields of a task."""
        fields = await self.redis.hgetall(self.keys.task(task_id))
        return {name.decode(): value.decode() for name, value in fields.items()}


async def count_commands(redis: Redis) -> dict[str, int]:
    """How often each command was called since the server started, those that scripts call among them."""
    found: dict[str, Any] = await redis.info("commandstats")
    return {name.removeprefix("cmdstat_"): int(stat["calls"]) for name, stat in found.items()}
