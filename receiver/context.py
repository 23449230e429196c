"""What a running tool may know and ask.  A worker makes the Context; a tool takes it as a parameter::

    async def render(pages: int, ctx: Context) -> str:
        await ctx.progress(3, total=pages)

A plain function runs in a thread of its own, where nothing can be awaited; it does the same by ``ctx.sync``::

    def render(pages: int, ctx: Context) -> str:
        ctx.sync.progress(3, total=pages)
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from pydantic import BaseModel

from receiver.principal import Principal
from receiver.protocol.elicitation import Elicited, ElicitedLink
from receiver.protocol.loglevel import LogLevel

P = ParamSpec("P")
T = TypeVar("T")


class Context(ABC):
    """One run of a tool.  The properties may be read from any thread."""

    @property
    @abstractmethod
    def task_id(self) -> str | None:
        """The id of the task, or None for a plain call."""

    @property
    @abstractmethod
    def run(self) -> int:
        """The number of this run; it rises each time the task is taken up, for whatever reason."""

    @property
    @abstractmethod
    def attempt(self) -> int:
        """1 at first, and one more after each lost worker and each ``Retry``; ``max_attempts`` bounds it."""

    @property
    @abstractmethod
    def state(self) -> Any:
        """What the receiver's ``lifespan`` yielded in this worker process, or in that of an isolated run."""

    @property
    @abstractmethod
    def principal(self) -> Principal:
        """Who called the tool."""

    @property
    @abstractmethod
    def cancelled(self) -> bool:
        """Whether the work is no longer wanted.

        An async tool is cancelled by asyncio as well; a plain function that loops has to look here.
        """

    @property
    @abstractmethod
    def sync(self) -> "SyncContext":
        """The methods of this Context for plain functions: they block, and must not be called in async tools."""

    @abstractmethod
    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Say how far the work is: ``done`` of ``total``, in any unit, never less than before."""

    @abstractmethod
    async def status(self, message: str) -> None:
        """Set the task's status message, one line that requestors see while it works (T-106)."""

    @abstractmethod
    async def log(self, level: LogLevel, data: Any) -> None:
        """Send a log message to the requestor: ``data`` is any JSON value."""

    @abstractmethod
    async def close_stream(self) -> None:
        """End the connection on which the caller of a plain call waits, once it was sent all that was said before.

        The client opens another, on any node, and misses nothing (H-10, H-11): for a long silence that proxies would
        not bear.  A client of a revision that can't come back keeps its connection, and a task needs none.
        """

    @abstractmethod
    async def resource_updated(self, uri: str) -> None:
        """Tell all clients that subscribed to the resource ``uri`` that it changed.

        The protocol lets a client that subscribed to a resource be told of its sub-resources; here a subscription is
        to one URI and no other, character by character.
        """

    @overload
    async def step(
        self, name: str, function: Callable[P, Coroutine[Any, Any, T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> T: ...

    @overload
    async def step(self, name: str, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T: ...

    @abstractmethod
    async def step(self, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Call ``function``, and have what it returns recorded: a later run of the task gets that, and calls nothing.

        It is recorded as JSON, in the way its return annotation says, and read from there in the first run too.  A
        plain function runs in a thread of its own.  An exception is not recorded.  A worker that dies between the end
        of ``function`` and the record leaves a step that is called again: let it bear that.

        A step is known by ``name``, how often that was used before, and its arguments, which have to be JSON: where
        several are under way at the same time, give each a name of its own.  Raises ReplayDiverged for other arguments
        than in an earlier run, ToolError for a result that is too long or no JSON, TypeError for such arguments.
        """

    @abstractmethod
    async def sleep(self, seconds: float) -> None:
        """Sleep, without a worker's slot.  A later run of the task sleeps only what is left by the store's clock.

        ``seconds`` counts in the first run that comes here, and may be another number in later ones.
        """

    @abstractmethod
    async def elicit(
        self, message: str, form: type[BaseModel] | Mapping[str, Any], *, as_task: bool = False
    ) -> Elicited:
        """Have the user fill in a form: a pydantic model or a JSON Schema, flat, and never for secrets (E-07).

        The task is ``input_required`` meanwhile.  Who is cancelled while it waits, as by ``asyncio.timeout``, takes the
        question back, and the task goes on.  Raises ToolError if the client can't ask its user.

        ``as_task``: the client does it as a task of its own, which is polled: for what takes so long that no stream
        stays open.  A client that did not declare that it can is asked plainly (T-02, T-03).  A task that the client
        cancels is the action ``cancel``; one that fails or expires is a ToolError.
        """

    @abstractmethod
    async def elicit_url(self, message: str, url: str, *, as_task: bool = False) -> ElicitedLink:
        """Have the user open ``url``: https, without credentials or personal data; there secrets may be asked for.

        It tells whether the user agreed to open it, not what became of that.  ``as_task`` and errors as in ``elicit``.
        """

    @abstractmethod
    async def elicitation_complete(self, elicitation_id: str) -> None:
        """Tell the client that what the user was sent to by ``elicit_url`` is done (E-04).

        ``elicitation_id`` as ``elicit_url`` returned it; ValueError for any other.
        """

    @abstractmethod
    async def sample(
        self, messages: str | Sequence[Mapping[str, Any]], max_tokens: int, *, as_task: bool = False, **params: Any
    ) -> dict[str, Any]:
        """Have the client's model write a message; ``params`` are those of sampling/createMessage, by wire name.

        ``messages`` as the protocol has them, or the text of one.  Returns the CreateMessageResult.  Raises ToolError.
        ``as_task`` as in ``elicit``; a task that the client cancels is a ToolError here.
        """


class BlockOn(Protocol):
    """Runs a coroutine where a Context lives, and returns its result."""

    def __call__(self, work: Coroutine[Any, Any, T], /) -> T: ...


class SyncContext:
    """``ctx.sync``.  ``block_on`` runs a coroutine where the Context lives, and returns when it is done."""

    def __init__(self, context: Context, block_on: BlockOn) -> None:
        self._context = context
        self._block_on = block_on

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """As ``Context.progress``."""
        self._block_on(self._context.progress(done, total, message))

    def status(self, message: str) -> None:
        """As ``Context.status``."""
        self._block_on(self._context.status(message))

    def log(self, level: LogLevel, data: Any) -> None:
        """As ``Context.log``."""
        self._block_on(self._context.log(level, data))

    def close_stream(self) -> None:
        """As ``Context.close_stream``."""
        self._block_on(self._context.close_stream())

    def resource_updated(self, uri: str) -> None:
        """As ``Context.resource_updated``."""
        self._block_on(self._context.resource_updated(uri))

    @overload
    def step(
        self, name: str, function: Callable[P, Coroutine[Any, Any, T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> T: ...

    @overload
    def step(self, name: str, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T: ...

    def step(self, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """As ``Context.step``: ``function`` runs in another thread than its caller."""
        return self._block_on(self._context.step(name, function, *args, **kwargs))

    def sleep(self, seconds: float) -> None:
        """As ``Context.sleep``."""
        self._block_on(self._context.sleep(seconds))

    def elicit(self, message: str, form: type[BaseModel] | Mapping[str, Any], *, as_task: bool = False) -> Elicited:
        """As ``Context.elicit``."""
        return self._block_on(self._context.elicit(message, form, as_task=as_task))

    def elicit_url(self, message: str, url: str, *, as_task: bool = False) -> ElicitedLink:
        """As ``Context.elicit_url``."""
        return self._block_on(self._context.elicit_url(message, url, as_task=as_task))

    def elicitation_complete(self, elicitation_id: str) -> None:
        """As ``Context.elicitation_complete``."""
        self._block_on(self._context.elicitation_complete(elicitation_id))

    def sample(
        self, messages: str | Sequence[Mapping[str, Any]], max_tokens: int, *, as_task: bool = False, **params: Any
    ) -> dict[str, Any]:
        """As ``Context.sample``."""
        return self._block_on(self._context.sample(messages, max_tokens, as_task=as_task, **params))
