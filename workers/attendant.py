"""Attends to the process of an isolated run: tells it what to run, and does what its Context asks for.

The run stays this worker's: claim, fence, lease, questions and steps are here.  The process is sent what it needs and
no more, and what it asks for is done by the same Context that runs in this process have.
"""

import asyncio
from dataclasses import asdict
from typing import Any

import structlog

from receiver.cancellation import cancel_all
from receiver.protocol.elicitation import Elicited
from receiver.protocol.errors import Retry
from receiver.protocol.outcome import Outcome
from receiver.telemetry.tracing import current_trace
from workers.channel import PASSED_ON, Channel, Message
from workers.context import RunContext
from workers.ending import Ending
from workers.memo import Memo
from workers.roster import ActiveRun

METHODS = frozenset(
    {
        "progress",
        "status",
        "log",
        "close_stream",
        "resource_updated",
        "sleep",
        "elicit",
        "elicit_url",
        "elicitation_complete",
        "sample",
    }
)

log = structlog.get_logger(__name__)


class StepFailed(Exception):
    """A step raised something: its process knows what."""


class Attendant:
    """Of the run ``active``; ``limit``: bytes of its result."""

    def __init__(self, active: ActiveRun, context: RunContext, memo: Memo, limit: int) -> None:
        self._active = active
        self._context = context
        self._memo = memo
        self._limit = limit
        self._calls: dict[int, asyncio.Task[None]] = {}
        self._produced: dict[int, asyncio.Future[bytes]] = {}

    async def serve(self, channel: Channel) -> Ending | None:
        """Serves the process to the end of its run, which is returned; None if it is gone before."""
        ending = None
        try:
            while ending is None and (message := await channel.receive()) is not None:
                ending = self._take(channel, message)
                await channel.drain()
        except (KeyError, TypeError, ValueError) as error:
            log.error("process_not_understood", task_id=self._active.claim.task_id, error=str(error))
        finally:
            if ending is None:
                self._active.is_over = True  # its questions stay, for the next run
            await cancel_all(self._calls.values())
        return ending

    def _take(self, channel: Channel, message: Message) -> Ending | None:
        match message:
            case {"ready": True}:
                self._active.has_begun = True
                channel.send({"run": self._describe()})
            case {"call": int(number), "do": str(method), "args": dict(arguments)}:
                self._calls[number] = asyncio.create_task(self._call(channel, number, method, arguments))
            case {"drop": int(number)}:
                if number in self._calls:
                    self._calls[number].cancel()
            case {"produced": int(number), "text": text}:
                self._settle(number, text)
            case {"outcome": dict(fields)}:
                return Ending(outcome=Outcome(**{**fields, "payload": fields["payload"].encode()}))
            case {"retry": after}:
                return Ending(error=Retry(after))
            case _:
                raise ValueError("a message that is none of ours")
        return None

    def _describe(self) -> dict[str, Any]:
        claim = self._active.claim
        fields = {name: value.decode(errors="replace") for name, value in claim.fields.items()}
        return {
            "task_id": claim.task_id,
            "run": claim.run,
            "claimed_at": claim.claimed_at,
            "fields": fields,
            "limit": self._limit,
            "trace": current_trace(),
        }

    async def _call(self, channel: Channel, number: int, method: str, arguments: dict[str, Any]) -> None:
        try:
            answer = {"answer": number, "value": await self._do(channel, number, method, arguments)}
            channel.send(answer)
        except BaseException as error:
            kind = next((name for name, it in PASSED_ON.items() if isinstance(error, it)), "RuntimeError")
            if kind == "RuntimeError" and not isinstance(error, StepFailed):
                log.error("context_call_failed", call=method, exc_info=error)
            channel.send({"answer": number, "error": [kind, str(error)]})
        finally:
            self._calls.pop(number, None)

    async def _do(self, channel: Channel, number: int, method: str, arguments: dict[str, Any]) -> Any:
        if method == "step":
            return await self._step(channel, number, **arguments)
        if method not in METHODS:
            raise ValueError(f"{method!r} is no method of a Context")
        value = await getattr(self._context, method)(**arguments)
        return asdict(value) if isinstance(value, Elicited) else value

    async def _step(self, channel: Channel, number: int, name: str, digest: str) -> str:
        async def produce() -> bytes:
            produced: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
            self._produced[number] = produced
            channel.send({"produce": number})
            try:
                return await produced
            finally:
                del self._produced[number]

        return (await self._memo.record(name, digest, produce)).decode()

    def _settle(self, number: int, text: str | None) -> None:
        produced = self._produced.get(number)
        if produced is None or produced.done():
            return
        if text is None:
            produced.set_exception(StepFailed())
        else:
            produced.set_result(text.encode())
