"""Fills a store with tasks, by the scripts that nodes and workers use, many calls in one flight."""

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from redis.asyncio import Redis

from receiver.protocol.task_id import new_task_id
from receiver.queue import encode_job
from receiver.store.keys import Keys
from receiver.store.scripts import Argument, load

FLIGHT = 500
BURST = 50  # in a flight while something is measured: the store serves nobody else before it is done
OWNERS = 1_000
HOUR = 3_600_000
SHARES = {"completed": 0.85, "failed": 0.05, "cancelled": 0.02}  # of all tasks; the rest waits to be run
FIELDS = ("schema", "tool", "method", "params", "protocol", "principal", "session", "poll_interval", "max_attempts")
NO_LIMITS = (10**9, 10**9)  # of unfinished and of waiting tasks
ADMITTED = ("", "", 1, "", "", 0, 1, "")  # no session, any number of requests, nobody to name
SHELF = "shelf"  # a queue from which no worker takes anything
PAYLOAD = '{"content":[{"type":"text","text":"' + "x" * 60 + '"}],"isError":false}'

Run = tuple[bytes, int]  # its task, and its number


async def read_record(redis: Redis, task_id: str) -> dict[str, str]:
    """A record as a node wrote it: what fillers take as a sample."""
    record: dict[bytes, bytes] = await cast(Any, redis.hgetall(Keys().task(task_id)))
    return {name.decode(): value.decode() for name, value in record.items()}


class Filler:
    """``sample`` is a record that a node wrote.  All ``owners`` get as many tasks, but the first a tenth of all.

    ``shares``: how many of all tasks end in which way.
    """

    def __init__(
        self,
        redis: Redis,
        sample: Mapping[str, str],
        owners: Sequence[str],
        *,
        shares: Mapping[str, float] = SHARES,
    ) -> None:
        self._shares = shares
        self._redis = redis
        self._keys = Keys()
        self._owners = owners
        self._queue = sample["queue"]
        self._tool = sample["tool"]
        self._fields: list[Argument] = [item for name in FIELDS if name in sample for item in (name, sample[name])]
        self._claims = 0

    async def fill(self, count: int) -> None:
        """So many tasks, most of them over."""
        for start in range(0, count, FLIGHT):
            size = min(FLIGHT, count - start)
            ids = await self.create(size, start)
            over = {status: round(share * size) for status, share in self._shares.items()}
            await self._end(ids[: sum(over.values())], [status for status, many in over.items() for _ in range(many)])

    async def create_many(self, count: int, *, ttl: int = HOUR) -> None:
        """So many tasks that wait to be run."""
        for start in range(0, count, FLIGHT):
            await self.create(min(FLIGHT, count - start), start, ttl=ttl)

    async def create(self, count: int, start: int = 0, *, ttl: int = HOUR) -> list[tuple[str, str]]:
        """Tasks that wait to be run; their ids, each with its owner."""
        ids = [(new_task_id("0"), self._owner(number)) for number in range(start, start + count)]
        await self._fly(
            "create",
            (
                (id, owner, self._queue, "task", ttl, *NO_LIMITS, encode_job(id), self._tool, *self._fields)
                for id, owner in ids
            ),
            admitted=True,
        )
        return ids

    async def claim(self, count: int, worker: str, lease: int) -> list[Run]:
        """Has a worker claim so many of them, as far as there are, and returns their runs."""
        runs: list[Run] = []
        while len(runs) < count:
            self._claims += 1
            size = min(FLIGHT, count - len(runs))
            (answer,) = await self._fly("claim", [(worker, self._claims, lease, size, size, 1, self._queue, 0, "0")])
            if not answer[2]:
                break
            runs += [(id, run) for id, run, *_ in answer[2]]
        return runs

    async def complete(self, runs: Sequence[Run], make_payload: Callable[[], str]) -> None:
        """Completes runs as fast as the store can; each flight of a few has a payload of its own."""
        for start in range(0, len(runs), BURST):
            await self._finish(runs[start : start + BURST], payload=make_payload())

    async def _end(self, ids: list[tuple[str, str]], statuses: list[str]) -> None:
        """Ends tasks: those that are not cancelled have been claimed by a worker before."""
        run = {status: [id for id, given in zip(ids, statuses, strict=True) if given == status] for status in SHARES}
        await self._fly(
            "cancel",
            ((id, owner, secrets.token_hex(8), "no", "status") for id, owner in run["cancelled"]),
            admitted=True,
        )
        await self._run(len(run["completed"]) + len(run["failed"]), failed=len(run["failed"]))

    async def _run(self, count: int, *, failed: int = 0) -> None:
        """Has a worker claim so many of those that wait, and end them; so many of them fail."""
        worker = secrets.token_hex(4)
        await self._finish(await self.claim(count, worker, HOUR), failed=failed)
        await self._fly("leave", [(worker,)])

    async def _finish(self, runs: Sequence[Run], *, failed: int = 0, payload: str = PAYLOAD) -> None:
        finishes = []
        for number, (id, run) in enumerate(runs):
            status = "failed" if number < failed else "completed"
            finishes.append((id, run, secrets.token_hex(8), status, "", "result", payload))
        await self._fly("finish", finishes)

    async def _fly(self, name: str, calls: Iterable[Sequence[Argument]], *, admitted: bool = False) -> list[Any]:
        script = load(name, admitted=admitted)
        await self._redis.script_load(script.source)
        head = (2, self._keys.prefix, self._keys.job_prefix, *(ADMITTED if admitted else ()))
        pipeline = self._redis.pipeline(transaction=False)
        for call in calls:
            pipeline.execute_command("EVALSHA", script.sha, *head, *call)
        answers: list[Any] = await pipeline.execute()
        return answers

    def _owner(self, number: int) -> str:
        return self._owners[0 if number % 10 == 0 else number % len(self._owners)]
