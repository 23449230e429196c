"""The Context of a run."""

import hashlib
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import orjson
import structlog
from pydantic import BaseModel

from receiver.protocol.capability import augmentable, client_supports
from receiver.protocol.elicitation import Elicited, ElicitedLink, read_elicited
from receiver.protocol.errors import Refused, ToolError
from receiver.protocol.form_schema import requested_schema
from receiver.protocol.link import check_url
from receiver.protocol.loglevel import LOG_LEVELS, LogLevel, rank_of
from receiver.protocol.messages import (
    render_elicitation_complete,
    render_form_elicitation,
    render_log,
    render_sampling,
    render_url_elicitation,
)
from receiver.protocol.outcome import one_line
from receiver.protocol.sampling import check_sampling, needed_capabilities
from receiver.store.runs import Notice
from receiver.store.streams import CLOSE
from workers.claimed import ClaimedContext
from workers.memo import Memo
from workers.progress import Progress
from workers.questions import Inquiry, Questions
from workers.reporter import Reporter
from workers.roster import ActiveRun

T = TypeVar("T")

Render = Callable[[str, int | None], bytes]  # of a request, by its id and the ttl of the client's task if there is one

log = structlog.get_logger("receiver.tool")

# Python has fewer levels.
_LEVELS = {level: level for level in LOG_LEVELS} | {
    "notice": "info",
    "alert": "critical",
    "emergency": "critical",
}


class RunContext(ClaimedContext):
    """What a tool sees of its run in a worker."""

    def __init__(
        self,
        active: ActiveRun,
        state: Any,
        reporter: Reporter,
        progress: Progress,
        questions: Questions,
        memo: Memo,
        announce: Callable[[str], Awaitable[None]],
    ) -> None:
        super().__init__(active.claim, state)
        self._active = active
        self._announce = announce
        self._questions = questions
        self._capabilities = orjson.loads(active.claim.text("capabilities") or "{}")
        self._memo = memo
        self._links: dict[str, str] = {}  # what asks a user to open a link, by the id of that elicitation
        self._progress = progress
        self._reporter = reporter
        self._began = self._loop.time()

    @property
    def cancelled(self) -> bool:
        return self._active.stop_reason is not None

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        self._progress.report(done, total, message)

    async def status(self, message: str) -> None:
        self._reporter.report({"status_message": one_line(message)})

    async def log(self, level: LogLevel, data: Any) -> None:
        if level not in _LEVELS:
            raise ValueError(f"{level!r} is not a log level: {', '.join(_LEVELS)}")
        write = getattr(log, _LEVELS[level])
        key = self._active.claim.text("tool")
        write("tool_log", task_id=self._active.claim.task_id, data=data)
        self._reporter.say(Notice(render_log(level, key, data, self.task_id), rank_of(level)))

    async def close_stream(self) -> None:
        if self.task_id is None:
            self._reporter.say(Notice(CLOSE))

    async def resource_updated(self, uri: str) -> None:
        try:
            await self._announce(uri)
        except Refused as error:  # a full store keeps the run, but not its remarks
            log.warning("update_not_announced", uri=uri, error=str(error))

    async def step(self, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return await self._memo.step(name, function, args, kwargs)

    async def sleep(self, seconds: float) -> None:
        if not 0 <= seconds < math.inf:
            raise ValueError("seconds is a number, zero or more")
        await self._memo.sleep(seconds)

    async def elicit(
        self, message: str, form: type[BaseModel] | Mapping[str, Any], *, as_task: bool = False
    ) -> Elicited:
        schema = requested_schema(form)
        needs = self._require("elicitation.form")
        name = self._questions.name("elicitation/create")

        def render(id: str, ttl: int | None) -> bytes:
            return render_form_elicitation(id, message, schema, self.task_id, ttl)

        return read_elicited(await self._ask(name, [message, schema], needs, render, as_task), schema)

    async def elicit_url(self, message: str, url: str, *, as_task: bool = False) -> ElicitedLink:
        check_url(url)
        needs = self._require("elicitation.url")
        name = self._questions.name("elicitation/create")
        elicitation_id = self._derive_id(name)
        self._links[elicitation_id] = name

        def render(id: str, ttl: int | None) -> bytes:
            return render_url_elicitation(id, message, url, elicitation_id, self.task_id, ttl)

        action = read_elicited(await self._ask(name, [message, url], needs, render, as_task), None).action
        return ElicitedLink(action, elicitation_id=elicitation_id)

    async def elicitation_complete(self, elicitation_id: str) -> None:
        if elicitation_id not in self._links:
            raise ValueError("this run has asked for no such elicitation")
        await self._questions.tell(self._links[elicitation_id], render_elicitation_complete(elicitation_id))

    async def sample(
        self, messages: str | Sequence[Mapping[str, Any]], max_tokens: int, *, as_task: bool = False, **params: Any
    ) -> dict[str, Any]:
        if isinstance(messages, str):
            messages = [{"role": "user", "content": {"type": "text", "text": messages}}]
        asked = {"messages": list(messages), "maxTokens": max_tokens, **params}
        check_sampling(asked)
        needs = self._require(*needed_capabilities(asked))
        name = self._questions.name("sampling/createMessage")

        def render(id: str, ttl: int | None) -> bytes:
            return render_sampling(id, asked, self.task_id, ttl)

        result: dict[str, Any] = await self._ask(name, asked, needs, render, as_task)
        return result

    async def _ask(self, name: str, content: Any, needs: tuple[str, ...], render: Render, as_task: bool) -> Any:
        runs_tasks = augmentable(name.partition("#")[0])
        if not as_task or not client_supports(self._capabilities, runs_tasks):  # T-02, T-03
            return await self._questions.ask(name, Inquiry(content, needs, lambda id: render(id, None)))
        ttl = max(1, self._active.claim.remaining - round((self._loop.time() - self._began) * 1000))
        return await self._questions.ask(name, Inquiry(content, (*needs, runs_tasks), lambda id: render(id, ttl), True))

    def _derive_id(self, question: str) -> str:
        """The id of an elicitation: a later run asks for the same one.  Nobody else knows what it is made from."""
        return hashlib.sha256(f"{self._active.claim.task_id}/{question}".encode()).hexdigest()[:32]

    def _require(self, *capabilities: str) -> tuple[str, ...]:
        """The same, if the client declared them: nothing else may be used (L-02, E-01)."""
        for capability in capabilities:
            if not client_supports(self._capabilities, capability):
                raise ToolError(f"The client does not support {capability}, which this tool needs")
        return capabilities
