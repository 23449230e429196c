"""What a run asks its requestor.  A question is stored with its task, so that its answer finds any run of it."""

import asyncio
import hashlib
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

import orjson

from receiver.protocol.errors import ToolError
from receiver.store.inputs import AskedOtherwise, InputStore, Question
from receiver.store.runs import Verdict
from workers.roster import ActiveRun

REREAD_SECONDS = 5.0  # an answer whose signal was lost is found by then

Render = Callable[[str], bytes]


class Questions:
    """The questions of one run, told apart by method and number: a later run asks them in the same order."""

    def __init__(self, inputs: InputStore, active: ActiveRun) -> None:
        self._inputs = inputs
        self._active = active
        self._counts: Counter[str] = Counter()
        self._waiting: set[asyncio.Event] = set()
        active.on_news = self._look

    async def ask(self, method: str, content: Any, needs: Sequence[str], render: Render) -> Any:
        """The result of the request ``method`` to the client; ``render`` gives its bytes for an id.

        ``content`` is what makes it the same question, ``needs`` what a client must have declared.

        Raises ToolError for an error of the client, or if an earlier run asked something else in this place, and
        CancelledError when the run is stopped.
        """
        self._counts[method] += 1
        claim = self._active.claim
        request_id = f"ask-{secrets.token_hex(16)}"
        name = f"{method}#{self._counts[method]}"
        question = Question(name, _digest(content), request_id, method, render(request_id), needs)
        try:
            answer = await self._inputs.ask(claim.task_id, claim.run, question)
        except AskedOtherwise:
            raise ToolError(f"The tool asked something else in place of its question {name} before") from None
        if answer is not Verdict.DONE and isinstance(answer, Verdict):
            await self._rest_for_ever()  # the task is not this run's any more: it is about to be stopped
        return _open(answer if isinstance(answer, bytes) else await self._wait(name))

    async def _wait(self, name: str) -> bytes:
        news = asyncio.Event()
        self._waiting.add(news)
        try:
            while True:
                news.clear()
                answers = await self._inputs.read_answers(self._active.claim.task_id, [name])
                if name in answers:
                    return answers[name]
                await self._rest(news)
        finally:
            self._waiting.discard(news)

    async def _rest_for_ever(self) -> NoReturn:
        news = asyncio.Event()
        self._waiting.add(news)
        try:
            while True:
                await self._rest(news)
        finally:
            self._waiting.discard(news)

    async def _rest(self, news: asyncio.Event) -> None:
        """Waits for news.  Nobody could cancel a plain function that asks: it hears here that its run is over."""
        if not self._active.is_over:
            with suppress(TimeoutError):
                async with asyncio.timeout(REREAD_SECONDS):
                    await news.wait()
        if self._active.is_over:
            raise asyncio.CancelledError

    def _look(self) -> None:
        for news in self._waiting:
            news.set()


def _digest(content: Any) -> str:
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def _open(answer: bytes) -> Any:
    opened = orjson.loads(answer)
    if "error" in opened:
        error = opened["error"]
        message = error.get("message") if isinstance(error, dict) else None
        raise ToolError(f"The client refused the request: {message or 'no reason given'}")
    return opened["result"]
