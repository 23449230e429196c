"""What a worker can be asked to run: a tool, the reading of a resource, a prompt, the completion of an argument."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from receiver.isolation import Isolation
from receiver.protocol.errors import InternalError, ReceiverError
from receiver.protocol.outcome import Outcome

PLAIN_LANE = "plain"  # where plain calls wait


class Operation(Protocol):
    """An author's function, how it is run, and what becomes of what it returns or raises.

    ``key`` is what a record's field ``tool`` holds; with the record's method it leads a worker to the operation.
    ``noun`` and ``key`` together are its name in texts for people.  ``timeout_ms`` is None where nothing was declared.
    """

    @property
    def noun(self) -> str: ...

    @property
    def key(self) -> str: ...

    @property
    def function(self) -> Callable[..., Any]: ...

    @property
    def is_async(self) -> bool: ...

    @property
    def timeout_ms(self) -> int | None: ...

    @property
    def replay(self) -> bool:
        """Whether a run that only waits may leave memory, and be run again from the top."""

    @property
    def isolation(self) -> Isolation | None:
        """How a process of its own is bounded that each run has; None for runs in the worker itself."""

    @property
    def context_parameter(self) -> str | None:
        """The name of the parameter that takes the Context, if there is one."""

    def queue_for(self, *, as_task: bool) -> str:
        """Where it waits to be run."""

    def attempts_for(self, *, as_task: bool, default: int) -> int:
        """How often it is run at most; ``default`` is for where its author said nothing against it."""

    def bind(self, params: Any, /) -> dict[str, Any]:
        """The record's ``params`` as keyword arguments, without the context; a ReceiverError says what is wrong."""

    def render(self, value: Any, params: Any, /) -> dict[str, Any]:
        """The result of a return value, as a JSON object; ToolError for a value that can't be one."""

    def fail(self, text: str, /) -> Outcome:
        """How a failure looks that ``text`` tells of."""

    def refuse(self, error: ReceiverError, /, *, as_task: bool) -> Outcome:
        """How it looks that params do not fit."""


class PlainOperation:
    """The part of operations that are no tools: never tasks, free to be repeated, and their failures are errors."""

    __slots__ = ()

    noun: ClassVar[str]
    replay: ClassVar[bool] = False
    isolation: ClassVar[Isolation | None] = None

    def queue_for(self, *, as_task: bool) -> str:
        """The lane of plain calls."""
        return PLAIN_LANE

    def attempts_for(self, *, as_task: bool, default: int) -> int:
        """As often as a tool that only reads."""
        return default

    def fail(self, text: str, /) -> Outcome:
        """A JSON-RPC error: these results have no ``isError``."""
        return Outcome.of_error(InternalError(text))

    def refuse(self, error: ReceiverError, /, *, as_task: bool) -> Outcome:
        """The error itself."""
        return Outcome.of_error(error)


class Keyed(Protocol):
    """What stands in a registry."""

    @property
    def noun(self) -> str: ...

    @property
    def key(self) -> str: ...


K = TypeVar("K", bound=Keyed)


class Registry(Generic[K]):
    """Operations by key, in the order in which they were added."""

    def __init__(self) -> None:
        self._known: dict[str, K] = {}

    def add(self, operation: K) -> None:
        """Add ``operation``; ValueError if its key is taken."""
        if operation.key in self._known:
            raise ValueError(f"there is a {operation.noun.lower()} {operation.key!r} already")
        self._known[operation.key] = operation

    def get(self, key: str) -> K | None:
        """The operation called ``key``, or None."""
        return self._known.get(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self._known.values())

    def __len__(self) -> int:
        return len(self._known)
