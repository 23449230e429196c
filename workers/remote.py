"""The Context of an isolated run, in its process: it asks the worker."""

import asyncio
import itertools
import math
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import Context, copy_context
from typing import Any, TypeVar

from pydantic import BaseModel

from receiver.protocol.elicitation import Elicited, ElicitedLink
from receiver.protocol.form_schema import requested_schema
from receiver.protocol.loglevel import LogLevel
from receiver.store.record import ClaimedRun
from workers.channel import PASSED_ON, Channel, Message
from workers.claimed import ClaimedContext
from workers.step import Step
from workers.threads import Threads

T = TypeVar("T")


class Caller:
    """Calls the worker.  ``is_stopped``: it said that the run is no longer wanted; ``on_stop`` hears of that."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._producers: dict[int, tuple[Callable[[], Awaitable[bytes]], Context]] = {}
        self._producing: dict[int, asyncio.Task[None]] = {}
        self.is_stopped = False
        self.is_done = False
        self.on_stop: Callable[[], object] = lambda: None

    async def listen(self) -> None:
        """Takes what the worker says, until it hangs up: without it, this process has nothing to do."""
        while not (self.is_done and self.is_stopped) and (message := await self._channel.receive()) is not None:
            self._take(message)
        if not self.is_done:
            os._exit(1)

    async def call(self, method: str, **arguments: Any) -> Any:
        """What the method of the Context returns; raises what it raises."""
        return await self._call(method, arguments, None)

    async def step(self, step: Step) -> Any:
        """What the step returns, or returned in an earlier run."""
        return step.read(await self._call("step", {"name": step.name, "digest": step.digest}, step.produce))

    async def _call(
        self, method: str, arguments: dict[str, Any], producer: Callable[[], Awaitable[bytes]] | None
    ) -> Any:
        if self.is_stopped:
            raise asyncio.CancelledError
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        if producer is not None:
            self._producers[number] = producer, copy_context()  # a step belongs to where it is called
        try:
            self._channel.send({"call": number, "do": method, "args": arguments})
            return await answer
        except asyncio.CancelledError:
            self._channel.send({"drop": number})
            raise
        finally:
            del self._answers[number]
            self._producers.pop(number, None)
            if producing := self._producing.pop(number, None):
                producing.cancel()

    def _take(self, message: Message) -> None:
        match message:
            case {"stop": True}:
                self._stop()
            case {"produce": int(number)} if number in self._producers:
                producer, context = self._producers[number]
                self._producing[number] = asyncio.create_task(self._produce(number, producer), context=context)
            case {"answer": int(number), "error": [kind, text]}:
                self._settle(number, PASSED_ON.get(kind, RuntimeError)(text))
            case {"answer": int(number), "value": value}:
                self._settle(number, None, value)

    def _settle(self, number: int, error: BaseException | None, value: Any = None) -> None:
        answer = self._answers.get(number)
        if answer is None or answer.done():
            return
        if isinstance(error, asyncio.CancelledError):
            answer.cancel()
        elif error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(value)

    async def _produce(self, number: int, producer: Callable[[], Awaitable[bytes]]) -> None:
        """Does a step; what it raises is known here alone."""
        text = None
        try:
            text = (await producer()).decode()
            self._channel.send({"produced": number, "text": text})
        except BaseException as error:
            self._settle(number, error)
            self._channel.send({"produced": number, "text": None})

    def _stop(self) -> None:
        self.is_stopped = True
        for answer in self._answers.values():
            answer.cancel()
        self.on_stop()


class RemoteContext(ClaimedContext):
    """What a tool sees of its run in a process of its own."""

    def __init__(self, caller: Caller, claim: ClaimedRun, state: Any, threads: Threads) -> None:
        super().__init__(claim, state)
        self._caller = caller
        self._threads = threads

    @property
    def cancelled(self) -> bool:
        return self._caller.is_stopped

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        if not all(map(math.isfinite, (done, total or 0))):  # which JSON can't express
            raise ValueError(f"progress is a finite number, not {done!r} of {total!r}")
        await self._caller.call("progress", done=done, total=total, message=message)

    async def status(self, message: str) -> None:
        await self._caller.call("status", message=message)

    async def log(self, level: LogLevel, data: Any) -> None:
        await self._caller.call("log", level=level, data=data)

    async def close_stream(self) -> None:
        await self._caller.call("close_stream")

    async def resource_updated(self, uri: str) -> None:
        await self._caller.call("resource_updated", uri=uri)

    async def step(self, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return await self._caller.step(Step(name, function, args, kwargs, self._threads))

    async def sleep(self, seconds: float) -> None:
        await self._caller.call("sleep", seconds=seconds)

    async def elicit(
        self, message: str, form: type[BaseModel] | Mapping[str, Any], *, as_task: bool = False
    ) -> Elicited:
        schema = requested_schema(form)
        return Elicited(**await self._caller.call("elicit", message=message, form=schema, as_task=as_task))

    async def elicit_url(self, message: str, url: str, *, as_task: bool = False) -> ElicitedLink:
        return ElicitedLink(**await self._caller.call("elicit_url", message=message, url=url, as_task=as_task))

    async def elicitation_complete(self, elicitation_id: str) -> None:
        await self._caller.call("elicitation_complete", elicitation_id=elicitation_id)

    async def sample(
        self, messages: str | Sequence[Mapping[str, Any]], max_tokens: int, *, as_task: bool = False, **params: Any
    ) -> dict[str, Any]:
        asked = {"messages": messages, "max_tokens": max_tokens, "as_task": as_task, **params}
        result: dict[str, Any] = await self._caller.call("sample", **asked)
        return result
