"""Requestors of two principals over all nodes, who create tasks and see every one of them to its end."""

import asyncio
import random
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from tests.chaos.evidence import Operation
from tests.chaos.requestor import PAUSE_SECONDS, RESOURCE, Order, Requestor

AT_ONCE = 40  # tasks of a principal whose end is awaited
TERMINAL = {"completed", "failed", "cancelled"}
WEIGHTS = {
    "quick": 30,
    "slow": 20,
    "destructive": 12,
    "asking": 10,
    "failing": 6,
    "flaky": 8,
    "stubborn": 6,
    "threaded": 8,
    "composing": 8,
    "parking": 10,
    "sleeping": 6,
    "delegating": 5,
    "hasty": 4,
}
UNTIMED = ("quick", "failing", "flaky", "delegating")
PLAIN_WEIGHTS = {"quick": 3, "slow": 2, "destructive": 4, "failing": 1, "threaded": 2, RESOURCE: 3}
PLAIN_SHARE = 0.12


class Load:
    """Creates ``rate`` tasks a second in all.  ``cancels``: which part of them; more would hide lost tasks.

    ``only``: these tools, all without; ``longest`` seconds a run takes; ``plain``: which part is called plainly.
    """

    def __init__(
        self,
        requestors: Sequence[Requestor],
        seed: int,
        *,
        rate: float = 15.0,
        cancels: float = 0.002,
        only: Sequence[str] = (),
        longest: float = 3.0,
        plain: float = PLAIN_SHARE,
    ) -> None:
        self.created: dict[str, tuple[Requestor, Operation]] = {}
        self.waiting: set[str] = set()
        self._requestors = requestors
        self._random = random.Random(seed)  # noqa: S311 - not a secret
        self._pause = len(requestors) / rate
        self._cancels = cancels
        self._tools = {name: weight for name, weight in WEIGHTS.items() if not only or name in only}
        self._plain_tools = {name: weight for name, weight in PLAIN_WEIGHTS.items() if not only or name in only}
        self._plain = plain if self._plain_tools else 0.0
        self._longest = longest
        self._places = {requestor.principal: asyncio.Semaphore(AT_ONCE) for requestor in requestors}
        self._creating: list[asyncio.Task[None]] = []
        self._following: set[asyncio.Task[None]] = set()
        self._failures: list[BaseException] = []

    def start(self) -> None:
        """Begins."""
        for requestor in self._requestors:
            self._creating.append(asyncio.create_task(self._keep_creating(requestor)))
            self._creating.append(asyncio.create_task(self._keep_listing(requestor)))

    async def stop_creating(self) -> None:
        """Creates no more."""
        await _end(self._creating)

    async def finish(self, is_late: Callable[[], bool]) -> None:
        """Returns when every task was seen to its end, or it is too late.

        Those whose creation nobody acknowledged are found in the lists, as their owners would.
        """
        for owner in self._requestors:
            for task, status in (await owner.list()).tasks:
                if task not in self.created and status not in TERMINAL:
                    self._spawn(self._await_result(owner, task))
        while self._following and not is_late():
            await asyncio.wait(self._following, timeout=PAUSE_SECONDS)
        await _end(list(self._following))
        for failure in self._failures:
            raise failure

    async def read_all(self) -> None:
        """Last looks at everything: each task once by get and by result, and the lists."""
        limit = asyncio.Semaphore(20)

        async def look(work: Coroutine[Any, Any, object]) -> None:
            async with limit:
                await work

        looks: list[Coroutine[Any, Any, object]] = [owner.list(is_final=True) for owner in self._requestors]
        for task, (owner, _) in self.created.items():
            looks.append(owner.get(task, is_final=True))
            if task not in self.waiting:
                looks.append(owner.result(task, is_final=True))
        await asyncio.gather(*map(look, looks))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._following.add(task)
        task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._following.discard(task)
        if not task.cancelled() and (failure := task.exception()):
            self._failures.append(failure)

    async def _keep_creating(self, requestor: Requestor) -> None:
        while True:
            await self._places[requestor.principal].acquire()
            self._spawn(self._order(requestor))
            await asyncio.sleep(self._random.expovariate(1 / self._pause))

    async def _keep_listing(self, requestor: Requestor) -> None:
        while True:
            await asyncio.sleep(self._random.uniform(1, 4))
            await requestor.list()

    def _draw(self) -> Order:
        is_plain = self._random.random() < self._plain
        tools = self._plain_tools if is_plain else self._tools
        (tool,) = self._random.choices(list(tools), list(tools.values()))
        seconds = None if tool in UNTIMED else self._random.uniform(0.05, self._longest)
        is_short = tool == "slow" and self._random.random() < 0.05
        return Order(tool, seconds, self._random.uniform(1, 3) if is_short else 600.0, is_plain)

    async def _order(self, requestor: Requestor) -> None:
        try:
            order = self._draw()
            if order.is_plain:
                await requestor.call(order)
                return
            created = await requestor.create(order)
            if created.outcome == "ok":
                self.created[created.task] = (requestor, created)
                await self._follow(requestor, created.task)
        finally:
            self._places[requestor.principal].release()

    async def _follow(self, owner: Requestor, task: str) -> None:
        """Waits for the end of a task, and looks at it in between, from both sides."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._await_result(owner, task))
            if self._random.random() < self._cancels:
                group.create_task(self._cancel(owner, task))
            for _ in range(self._random.choice((0, 0, 1, 2))):
                group.create_task(self._look(owner, task))
            if self._random.random() < 0.1:
                (stranger,) = [other for other in self._requestors if other is not owner]
                group.create_task(self._pry(stranger, task))
        if self._random.random() < 0.3:
            await owner.get(task)
            await owner.result(task)

    async def _await_result(self, owner: Requestor, task: str) -> None:
        self.waiting.add(task)
        while (await owner.result(task)).outcome == "unknown":  # noqa: ASYNC110 - it waits for another process
            await asyncio.sleep(PAUSE_SECONDS)
        self.waiting.discard(task)

    async def _look(self, owner: Requestor, task: str) -> None:
        await asyncio.sleep(self._random.uniform(0, self._longest))
        await owner.get(task)

    async def _cancel(self, owner: Requestor, task: str) -> None:
        await asyncio.sleep(self._random.uniform(0, self._longest))
        await owner.cancel(task)

    async def _pry(self, stranger: Requestor, task: str) -> None:
        await stranger.get(task)
        await stranger.cancel(task)


async def _end(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(result, Exception):
            raise result
