"""What a run records for later runs of its task: steps and sleeps, each known by its name and number."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from receiver.protocol.errors import ToolError
from receiver.store.runs import Verdict
from receiver.store.steps import Recorded, StepStore
from workers.roster import ActiveRun
from workers.step import Step
from workers.threads import Threads


class Memo:
    """The memory of one run, which is that of all runs of its task.  ``limit``: bytes of one result, as JSON."""

    def __init__(self, steps: StepStore, active: ActiveRun, threads: Threads, limit: int) -> None:
        self._steps = steps
        self._active = active
        self._threads = threads
        self._limit = limit

    async def step(self, name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What ``function`` returns, or returned in an earlier run: in both cases as it was recorded.

        Raises what it raises, and ReplayDiverged.
        """
        step = Step(name, function, args, kwargs, self._threads)
        return step.read(await self.record(name, step.digest, step.produce))

    async def record(self, name: str, digest: str, produce: Callable[[], Awaitable[bytes]]) -> bytes:
        """What ``produce`` returns, JSON, or returned in an earlier run."""
        call = self._active.name_call(f"step/{name}")
        with self._active.waits.work():
            recorded = await self._recall(call, name, digest)
            if recorded is not None:
                return recorded.value
            text = await produce()
            if len(text) > self._limit:
                raise ToolError(f"What step {name!r} returned has {len(text)} bytes; {self._limit} are allowed")
            claim = self._active.claim
            verdict = await self._steps.remember(claim.task_id, claim.run, call, Recorded(digest, text))
            if verdict is not Verdict.DONE:
                await self._active.rest_for_ever()
            return text

    async def sleep(self, seconds: float) -> None:
        """Sleeps until ``seconds`` after the first run came to this sleep."""
        call = self._active.name_call("sleep")
        end = await self._find_end(call, seconds)
        loop = asyncio.get_running_loop()
        with self._active.waits.wait(call) as news:
            while (rest := end - loop.time()) > 0:
                await self._active.rest(news, rest)
                if news.is_set():
                    news.clear()
                    end = await self._find_end(call, seconds)  # by the store's clock, which may have been set

    async def _find_end(self, call: str, seconds: float) -> float:
        """When a sleep ends, by the clock of the event loop."""
        claim = self._active.claim
        left = await self._steps.sleep(claim.task_id, claim.run, call, round(seconds * 1000))
        if isinstance(left, Verdict):
            await self._active.rest_for_ever()
        return asyncio.get_running_loop().time() + left / 1000

    async def _recall(self, call: str, name: str, digest: str) -> Recorded | None:
        """What was recorded.  The first run asks, too: a later one may have begun while its worker hung."""
        claim = self._active.claim
        recorded = await self._steps.recall(claim.task_id, claim.run, call)
        if recorded is Verdict.DONE:
            return None
        if isinstance(recorded, Verdict):
            await self._active.rest_for_ever()
        if recorded.digest != digest:
            raise self._active.diverge(f"The tool calls its step {name!r} with other arguments than in an earlier run")
        return recorded
