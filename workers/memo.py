"""What a run records for later runs of its task: steps and sleeps, each known by its name and number."""

import asyncio
import hashlib
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from receiver.protocol.errors import ToolError
from receiver.store.runs import Verdict
from receiver.store.steps import Recorded, StepStore
from receiver.tools.content import ANYTHING, to_json
from receiver.tools.function import is_async
from receiver.tools.schema import adapter_of, signature_of
from workers.ending import Ending
from workers.roster import ActiveRun
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
        call = self._active.name_call(f"step/{name}")
        digest = _digest(name, args, kwargs)
        with self._active.waits.work():
            adapter = _adapter_of(function)
            recorded = await self._recall(call, name, digest)
            if recorded is not None:
                return _fit(adapter.validate_json, recorded.value, name)
            value = await self._run(function, partial(function, *args, **kwargs))
            return await self._remember(call, name, adapter, digest, value)

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
        if self._active.claim.run == 1:
            return None  # there is no earlier run
        recorded = await self._steps.recall(self._active.claim.task_id, call)
        if recorded is not None and recorded.digest != digest:
            raise self._active.diverge(f"The tool calls its step {name!r} with other arguments than in an earlier run")
        return recorded

    async def _run(self, function: Callable[..., Any], work: Callable[[], Any]) -> Any:
        """Whatever it is, the event loop goes on meanwhile."""
        if is_async(function):
            return await work()
        running: asyncio.Future[Ending] = self._threads.run(f"{self._active.claim.task_id} step", work)
        try:
            await asyncio.wait({running})
        finally:
            if not running.done():
                self._threads.abandon(running)
        value = running.result().unwrap()
        return await value if inspect.isawaitable(value) else value

    async def _remember(self, call: str, name: str, adapter: TypeAdapter[Any], digest: str, value: Any) -> Any:
        fitting = _fit(adapter.validate_python, value, name)
        text = to_json(fitting, adapter, f"step {name!r}")[1].encode()
        if len(text) > self._limit:
            raise ToolError(f"What step {name!r} returned has {len(text)} bytes; {self._limit} are allowed")
        result = _fit(adapter.validate_json, text, name)
        claim, recorded = self._active.claim, Recorded(digest, text)
        if await self._steps.remember(claim.task_id, claim.run, call, recorded) is not Verdict.DONE:
            await self._active.rest_for_ever()
        return result


def _fit(validate: Callable[[Any], Any], value: Any, name: str) -> Any:
    try:
        return validate(value)
    except ValidationError as error:
        raise ToolError(f"What step {name!r} returned is not what its annotation says") from error


def _adapter_of(function: Callable[..., Any]) -> TypeAdapter[Any]:
    """What reads and writes what ``function`` returns: by its annotation, or any JSON value where it has none."""
    annotation = signature_of(function).return_annotation
    return ANYTHING if annotation is inspect.Signature.empty else adapter_of(annotation)


def _digest(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    try:
        plain = to_json([_in_order(args), _in_order(kwargs)])[0]
    except ToolError as error:
        raise TypeError(
            f"the arguments of step {name!r} can't be written as JSON, by which later runs know them; "
            "let the function hold what is the same in every run"
        ) from error
    return hashlib.sha256(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def _in_order(value: Any) -> Any:
    """Sets have another order in every process."""
    if isinstance(value, set | frozenset):
        return sorted(map(_in_order, value), key=repr)
    if isinstance(value, dict):
        return {key: _in_order(item) for key, item in value.items()}
    return [*map(_in_order, value)] if isinstance(value, list | tuple) else value
