"""Receiver: what an author builds.  It holds the tools and says nothing of how they are served."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar, overload

from mcp_types import ToolAnnotations

from receiver.context import Context
from receiver.principal import Authenticate
from receiver.tools.duration import Duration
from receiver.tools.registry import Tools
from receiver.tools.tool import DEFAULT_LANE, FROM_ANNOTATION, TaskSupport, Tool

F = TypeVar("F", bound=Callable[..., Any])
Lifespan = Callable[["Receiver"], AbstractAsyncContextManager[Any]]


class Receiver:
    """A server's name, version and tools.

    ``title`` and ``instructions`` are shown to clients.  ``lifespan`` is called once in every worker process; what
    its context manager yields is ``ctx.state``.

    ``authenticate`` says who asks: called for each request that brings no static token, with the request's headers
    by lower-case name, it returns a Principal, or None to turn the requestor away.  It may be async; a plain function
    runs in a thread.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str = "0.0.0",
        title: str | None = None,
        instructions: str | None = None,
        lifespan: Lifespan | None = None,
        authenticate: Authenticate | None = None,
    ) -> None:
        if not name:
            raise ValueError("a receiver needs a name")
        self.name = name
        self.version = version
        self.title = title
        self.instructions = instructions
        self.lifespan = lifespan
        self.authenticate = authenticate
        self.tools = Tools()

    @overload
    def tool(self, function: F, /) -> F: ...

    @overload
    def tool(
        self,
        function: None = None,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        task: TaskSupport = "optional",
        timeout: Duration | None = None,
        min_ttl: Duration | None = None,
        max_attempts: int | None = None,
        annotations: Mapping[str, Any] | ToolAnnotations | None = None,
        replay: bool = False,
        lane: str = DEFAULT_LANE,
        max_running: int | None = None,
        immediate: str | None = None,
        output_schema: Any = FROM_ANNOTATION,
    ) -> Callable[[F], F]: ...

    def tool(self, function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
        """Make a function a tool: ``@app.tool``, or ``@app.tool(...)`` with options.  The function stays what it is.

        ``name`` is the function's, ``description`` its docstring, the schemas come from its annotations.
        ``task``: whether clients must, may or can't call it as a task.
        ``timeout``: running time after which it is stopped; ``min_ttl``: how long a task must be kept at least.  Both
        are seconds, a timedelta, or a string like ``"30m"``.
        ``max_attempts``: how often it may be run when workers are lost; see ``Tool.attempts_for`` for the default.
        ``annotations``: the protocol's hints, by wire name or as ToolAnnotations.
        ``replay``: it may be run again from the top after a wait.
        ``lane``: the workers that take it; ``max_running``: how many of it run at the same time, everywhere.
        ``immediate``: what a host may tell its model while a task runs (T-15).
        ``output_schema``: a type to use in place of the return annotation, or None for unstructured results.

        TypeError and ValueError, with the tool's name, say what can't be a tool.
        """
        if function is None:
            return lambda decorated: self.tool(decorated, **options)
        if not callable(function):
            raise TypeError(f"{function!r} is not a function; options are passed by name, as in @app.tool(name=...)")
        try:
            self.tools.add(Tool.of(function, context=Context, **options))
        except (TypeError, ValueError) as error:
            name = options.get("name") or getattr(function, "__name__", repr(function))
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"tool {name!r}: {error}") from error
        return function
