"""``rehearse``: an app on a stage of its own, for the tests of its author."""

import inspect
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from receiver.operation import Operation
from receiver.principal import ANONYMOUS, Principal
from receiver.receiver import Receiver
from receiver.settings import Settings
from receiver.store.record import Kind
from receiver.tools.duration import Duration, milliseconds
from receiver.tools.tool import Tool
from workers.lifespan import enter_lifespan
from workers.rehearsal.answers import Answers
from workers.rehearsal.clock import connect
from workers.rehearsal.performance import Performance
from workers.rehearsal.play import Cast, perform
from workers.rehearsal.proof import Proof
from workers.rehearsal.requestor import EVERYTHING, Request

Prepare = Callable[[], object]


class Rehearsal:
    """An app on stage; ``rehearse`` opens it.  Each call has a store of its own."""

    def __init__(self, cast: Cast, *, with_timeouts: bool) -> None:
        self._cast, self._app = cast, cast.app
        self._with_timeouts = with_timeouts

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        answers: Answers = (),
        plain: bool = False,
        parked: bool = False,
    ) -> Performance:
        """Calls a tool as a task, or as a plain call, and plays it to its end; retries and sleeps pass at once.

        ``answers``: one for each question, in order, or a function of a Question.  ``parked``: a tool with
        ``replay=True`` is parked at each wait.  Raises AssertionError for a question without an answer, for an answer
        without a question, and for what never ends; LookupError for an unknown tool; InvalidArguments.
        """
        return await self._perform(self._request_tool(tool, arguments, plain), answers, parked)

    async def read(self, uri: str) -> Performance:
        """Reads a resource, also one of a template."""
        found = self._app.resources.find(uri)
        if found is None:
            raise LookupError(f"there is no resource {uri!r} in {self._app.name!r}")
        return await self._perform(self._request("resources/read", found[0], {"uri": uri}, "call"), (), False)

    async def prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> Performance:
        """Gets a prompt."""
        prompt = _require("prompt", self._app.prompts.get(name), name, [it.key for it in self._app.prompts])
        return await self._perform(self._request("prompts/get", prompt, dict(arguments or {}), "call"), (), False)

    async def prove_replayable(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        answers: Answers = (),
        plain: bool = False,
        every: int = 1,
        prepare: Prepare | None = None,
    ) -> Performance:
        """Plays a call once undisturbed, and again for each point of its recorded calls, where its worker is lost.

        The points are before, in and behind each step, sleep and question, and the end, where the outcome is not yet
        written; of them each ``every``-th is tried.  A tool with ``replay=True`` is also parked at each wait.  Each
        time the later run has to make the same calls, do no step again but the one that it was killed in, and have the
        same outcome; where steps have other results than undisturbed, only what runs of one task have in common counts.

        ``prepare`` is called, and awaited if need be, before each time: for what has to begin anew outside of the tool.
        AssertionError says what went wrong and where.  Returns the one that was played undisturbed.
        """
        request = self._request_tool(tool, arguments, plain, spare=1)
        await _call(prepare)
        model = await self._perform(request, answers, False)
        proof = Proof(model)
        for point in model.trace.points[:: max(1, every)]:
            await _call(prepare)
            proof.check(await perform(self._cast, request, answers, kill=point), point)
        if request.operation.replay and request.kind == "task":
            await _call(prepare)
            proof.check(await perform(self._cast, request, answers, parked=True), None)
        return model

    async def _perform(self, request: Request, answers: Answers, parked: bool) -> Performance:
        performance = await perform(self._cast, request, answers, parked=parked)
        if not callable(answers) and (spare := len(answers) - len(performance.questions)) > 0:
            asked = len(performance.questions)
            raise AssertionError(f"{request.name} asked {asked} questions; {spare} more answers were given")
        return performance

    def _request_tool(self, name: str, arguments: Mapping[str, Any] | None, plain: bool, *, spare: int = 0) -> Request:
        tool: Tool = _require("tool", self._app.tools.get(name), name, [it.key for it in self._app.tools])
        kind: Kind = "call" if plain or tool.task == "forbidden" else "task"
        return self._request("tools/call", tool, dict(arguments or {}), kind, spare)

    def _request(self, method: str, operation: Operation, params: Any, kind: Kind, spare: int = 0) -> Request:
        """``spare``: attempts beyond those that it has, for a worker that is lost."""
        operation.bind(params)
        declared = operation.attempts_for(as_task=kind == "task", default=self._cast.settings.max_attempts)
        timeout = operation.timeout_ms if self._with_timeouts else None
        return Request(method, operation, params, kind, self._cast.settings.max_ttl, timeout, declared + spare)


@asynccontextmanager
async def rehearse(
    app: Receiver,
    *,
    capabilities: Mapping[str, Any] | None = None,
    principal: Principal = ANONYMOUS,
    ttl: Duration = "7d",
    timeouts: bool = False,
    **settings: Any,
) -> AsyncIterator[Rehearsal]:
    """A stage for ``app``, with its lifespan; nothing outside of this process is needed.

    ``capabilities``: what the client declares, everything unless told.  ``principal``: who calls.  ``ttl``: how long
    its tasks are kept.  ``timeouts``: whether tools are stopped at their ``timeout``, of real time.  ``settings``: as
    those of a server, such as ``max_step_bytes``.  Raises ImportError where fakeredis is missing.
    """
    chosen = Settings(**{"redis_url": "unix://nowhere", "max_ttl": milliseconds(ttl), **settings})
    declared = dict(EVERYTHING if capabilities is None else capabilities)
    connect()  # what is missing is said at once
    async with AsyncExitStack() as stack:
        state = await enter_lifespan(app, stack)
        yield Rehearsal(Cast(app, state, chosen, principal, declared), with_timeouts=timeouts)


def _require(noun: str, found: Any, name: str, known: list[str]) -> Any:
    if found is None:
        raise LookupError(f"there is no {noun} {name!r}; there are: {', '.join(known) or 'none'}")
    return found


async def _call(prepare: Prepare | None) -> None:
    if prepare is not None and inspect.isawaitable(done := prepare()):
        await done
