"""Receiver: what an author builds.  It holds the tools, resources and prompts, and not how they are served."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, TypeVar, Unpack, overload

from mcp_types import ToolAnnotations
from pydantic import BaseModel

from receiver.completion import Completion, Completions
from receiver.context import Context
from receiver.isolation import Isolation
from receiver.operation import Operation
from receiver.principal import Authenticate
from receiver.prompts.prompt import Prompt
from receiver.prompts.registry import Prompts
from receiver.resources.registry import Resources
from receiver.resources.resource import Resource, ResourceOptions
from receiver.tools.duration import Duration
from receiver.tools.icons import Icons, written_icons
from receiver.tools.registry import Tools
from receiver.tools.tool import DEFAULT_LANE, FROM_ANNOTATION, TaskSupport, Tool

F = TypeVar("F", bound=Callable[..., Any])
Lifespan = Callable[["Receiver"], AbstractAsyncContextManager[Any]]


class Receiver:
    """A server's name and version, its tools, resources and prompts.

    ``title``, ``instructions``, ``icons`` and ``website_url`` are shown to clients.  ``lifespan`` is called once in
    every worker process; what its context manager yields is ``ctx.state``.

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
        icons: Icons | None = None,
        website_url: str | None = None,
        lifespan: Lifespan | None = None,
        authenticate: Authenticate | None = None,
    ) -> None:
        if not name:
            raise ValueError("a receiver needs a name")
        self.name = name
        self.version = version
        self.title = title
        self.instructions = instructions
        self.icons = written_icons(icons)
        self.website_url = website_url
        self.lifespan = lifespan
        self.authenticate = authenticate
        self.tools = Tools()
        self.resources = Resources()
        self.prompts = Prompts()
        self.completions = Completions()

    def find_operation(self, method: str, key: str) -> Operation | None:
        """What the request ``method`` for ``key`` has run, or None if this app does not know it."""
        registries: dict[str, Tools | Resources | Prompts | Completions] = {
            "tools/call": self.tools,
            "resources/read": self.resources,
            "prompts/get": self.prompts,
            "completion/complete": self.completions,
        }
        return registries[method].get(key) if method in registries else None

    @property
    def completes(self) -> bool:
        """Whether there is any argument that can be completed."""
        sets = [it.parameters for it in (*self.prompts, *self.resources)]
        return len(self.completions) > 0 or any(it.choices(name) for it in sets for name in it.names)

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
        icons: Icons | None = None,
        replay: bool = False,
        isolate: bool | Isolation = False,
        lane: str = DEFAULT_LANE,
        max_running: int | None = None,
        immediate: str | None = None,
        input_schema: type[BaseModel] | None = None,
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
        ``icons``: each an Icon, or a mapping with ``src``, ``mimeType``, ``sizes`` and ``theme``.
        ``replay``: a task of it may be run again from the top after a wait, so that it need not stay in memory
        meanwhile: its steps, answers and sleeps are what they were.  What it does beside a wait ends with that run, and
        a timeout of its own around one begins anew; ``ctx.sleep`` beside it does not.
        ``isolate``: each run has a process of its own, so that a crash or too much memory hurts no other, and a cancel
        or a timeout ends it whatever it does; ``Isolation(memory="512MiB")`` bounds that.  It is started for the run,
        imports the app and enters its lifespan, which counts as running time.  One that dies is an attempt.
        ``lane``: the workers that take it; ``max_running``: how many of it run at the same time, everywhere.
        ``immediate``: what a host may tell its model while a task runs (T-15).
        ``input_schema``: a pydantic model whose fields are the arguments, to use in place of the annotations: for what
        they can't say, such as what holds between arguments, or other keywords of the schema (``json_schema_extra``).
        ``output_schema``: a type to use in place of the return annotation, or None for unstructured results.

        TypeError and ValueError, with the tool's name, say what can't be a tool.
        """
        if function is None:
            return lambda decorated: self.tool(decorated, **options)
        with _naming("tool", function, **options):
            self.tools.add(Tool.of(function, context=Context, **options))
        return function

    def resource(self, uri: str, **options: Unpack[ResourceOptions]) -> Callable[[F], F]:
        """Make a function the reader of a resource: ``@app.resource("notes://all")``.

        A URI with parts like ``{name}``, or ``{+name}`` for what may have slashes, is a template: the function takes
        these parameters, decoded and converted to their annotations.  They are what a client wrote: a file name among
        them may hold ``../``.

        It returns text, bytes, a value to be written as JSON, or TextResourceContents, BlobResourceContents, or a
        list of them.  ``mime_type`` is of what it returns; ``size`` in bytes; the others are as those of a tool.
        """
        if not isinstance(uri, str):
            raise TypeError('a resource needs its URI, as in @app.resource("notes://all")')

        def add(function: F) -> F:
            with _naming("resource", function, name=uri):
                self.resources.add(Resource.of(function, uri, context=Context, **options))
            return function

        return add

    @overload
    def prompt(self, function: F, /) -> F: ...

    @overload
    def prompt(
        self,
        function: None = None,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: Icons | None = None,
        timeout: Duration | None = None,
    ) -> Callable[[F], F]: ...

    def prompt(self, function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
        """Make a function a prompt: ``@app.prompt``, or ``@app.prompt(...)`` with options.

        Its parameters are the prompt's arguments: strings, converted to their annotations.  It returns the text of a
        message of the user, a PromptMessage or a mapping ``{"role", "content"}``, a list of those, or a whole
        GetPromptResult.
        """
        if function is None:
            return lambda decorated: self.prompt(decorated, **options)
        with _naming("prompt", function, **options):
            self.prompts.add(Prompt.of(function, context=Context, **options))
        return function

    def completion(self, ref: str, argument: str, *, timeout: Duration | None = None) -> Callable[[F], F]:
        """Make a function complete ``argument`` of ``ref``, a prompt's name or a template: both are there already.

        It takes what the user typed so far, and as a second parameter, if it has one, the arguments that are known
        already; it returns strings, the best first.  Arguments annotated with a Literal or an Enum need none.
        """

        def add(function: F) -> F:
            with _naming("completion", function, name=f"{ref} {argument}"):
                completed = self.prompts.get(ref) or self.resources.get(ref)
                if completed is None:
                    raise ValueError("there is no such prompt or template")
                self.completions.add(Completion.of(function, completed, argument, context=Context, timeout=timeout))
            return function

        return add


@contextmanager
def _naming(noun: str, function: object, *, name: str | None = None, **_: object) -> Iterator[None]:
    """Puts what is being added in front of the texts of errors."""
    if not callable(function):
        raise TypeError(f"{function!r} is not a function; options are passed by name, as in @app.{noun}(name=...)")
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{noun} {name or getattr(function, '__name__', repr(function))!r}: {error}") from error
