"""What a run asks its requestor.  A question is stored with its task, so that its answer finds any run of it."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson
import structlog

from receiver.protocol.errors import ReceiverError, ToolError
from receiver.protocol.messages import render_cancelled
from receiver.store.inputs import AskedOtherwise, InputStore, Question, new_request_id
from receiver.store.runs import Verdict
from workers.pursuit import Pursuit
from workers.roster import ActiveRun

WITHDRAW_SECONDS = 5.0  # what a tool that gives up waits for the store, if that is away; the end of its task is next

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What is to be asked: ``content`` is what makes it the same question, ``render`` gives its bytes for an id.

    ``needs``: what a client must have declared.  ``asks_for_task``: the client is asked to do it as a task.
    """

    content: Any
    needs: Sequence[str]
    render: Callable[[str], bytes]
    asks_for_task: bool = False


class Questions:
    """The questions of one run, told apart by method and number: a later run asks them in the same order."""

    def __init__(self, inputs: InputStore, active: ActiveRun) -> None:
        self._inputs = inputs
        self._active = active
        self._pursuit = Pursuit(inputs, active.claim)

    def name(self, method: str) -> str:
        """The name of the next question with this method."""
        return self._active.name_call(method)

    async def ask(self, name: str, inquiry: Inquiry) -> Any:
        """The result of a request to the client.

        Raises ToolError for an error of the client, ReplayDiverged if an earlier run asked something else in this
        place, and CancelledError when the run is stopped.  Who is cancelled otherwise gives up on the question.
        """
        claim = self._active.claim
        asking = asyncio.ensure_future(self._inputs.ask(claim.task_id, claim.run, self._compose(name, inquiry)))
        try:
            return _open(await self._await_answer(name, asking))
        except asyncio.CancelledError:
            await self._give_up(name, asking)
            raise

    async def tell(self, name: str, notification: bytes) -> None:
        """Sends a notification to the session that was asked, and to no other (E-04)."""
        await self._inputs.tell(self._active.claim.task_id, self._active.claim.run, name, notification)

    def _compose(self, name: str, inquiry: Inquiry) -> Question:
        claim, request_id = self._active.claim, new_request_id()
        task_id = claim.task_id if claim.kind == "task" else None
        withdrawal = b"" if inquiry.asks_for_task else render_cancelled(request_id, "No longer needed", task_id)  # T-73
        method, body = name.partition("#")[0], inquiry.render(request_id)
        return Question(name, _digest(inquiry.content), request_id, method, body, inquiry.needs, withdrawal)

    async def _await_answer(self, name: str, asking: "asyncio.Future[Verdict | bytes]") -> bytes:
        try:
            answer = await asyncio.shield(asking)
        except AskedOtherwise:
            raise self._active.diverge(f"In an earlier run the tool asked something else for {name}") from None
        if isinstance(answer, bytes):
            return answer
        if answer is not Verdict.DONE:
            await self._active.rest_for_ever()
        return await self._wait(name)

    async def _wait(self, name: str) -> bytes:
        task_id = self._active.claim.task_id
        with self._active.waits.wait(name) as news:
            while True:
                news.clear()
                standing = await self._inputs.look(task_id, name)
                if standing.answer:
                    break
                await self._active.rest(news, await self._pursuit.advance(name, standing))
        if standing.client_task:
            log.info("client_task_ended", task_id=task_id, client_task_id=standing.client_task)  # T-101, T-102
        return standing.answer

    async def _give_up(self, name: str, asking: "asyncio.Future[Verdict | bytes]") -> None:
        """Withdraws the question, unless the run is over: its task ends with what it asked, or a later run asks on."""
        if self._active.is_over or self._active.stop_reason is not None:
            asking.cancel()
            return
        with suppress(TimeoutError, AskedOtherwise, ReceiverError):
            async with asyncio.timeout(WITHDRAW_SECONDS):
                await asking  # else it might be asked behind its withdrawal
                await self._inputs.withdraw(self._active.claim.task_id, self._active.claim.run, name)


def _digest(content: Any) -> str:
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def _open(answer: bytes) -> Any:
    opened = orjson.loads(answer)
    if "failure" in opened:
        raise ToolError(opened["failure"])
    if "error" in opened:
        error = opened["error"]
        message = error.get("message") if isinstance(error, dict) else None
        raise ToolError(f"The client refused the request: {message or 'no reason given'}")
    return opened["result"]
