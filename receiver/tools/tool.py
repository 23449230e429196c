"""A tool: a function, what clients are told of it, and how its author wants it run."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypedDict, Unpack, get_args

from mcp_types import ToolAnnotations
from pydantic import BaseModel

from receiver.isolation import Isolation
from receiver.operation import PLAIN_LANE
from receiver.protocol.errors import ReceiverError
from receiver.protocol.outcome import Outcome
from receiver.protocol.ttl import find_floor
from receiver.tools.annotations import written_annotations
from receiver.tools.content import error_result
from receiver.tools.duration import Duration, milliseconds
from receiver.tools.function import docstring_of, is_async, name_of
from receiver.tools.icons import Icons, written_icons
from receiver.tools.returns import Returns
from receiver.tools.schema import Parameters, signature_of

TaskSupport = Literal["forbidden", "optional", "required"]

NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}", re.ASCII)  # L-10
LANE = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)  # without the ":" that makes a queue's name of lane and tool
DEFAULT_LANE = "default"
FROM_ANNOTATION: Any = object()


class Handling(TypedDict, total=False):
    """How an author wants a tool handled."""

    task: TaskSupport
    max_attempts: int | None
    replay: bool
    isolate: bool | Isolation
    lane: str
    max_running: int | None
    immediate: str | None


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Tool:
    """Made by ``of``.  ``annotations`` have their wire names; ``max_attempts`` is None where the author wrote none."""

    noun: ClassVar[str] = "Tool"

    name: str
    title: str | None
    description: str | None
    function: Callable[..., Any]
    is_async: bool
    parameters: Parameters
    returns: Returns
    annotations: dict[str, Any]
    icons: list[dict[str, Any]] | None
    timeout_ms: int | None
    min_ttl_ms: int | None
    task: TaskSupport = "optional"
    max_attempts: int | None = None
    lane: str = DEFAULT_LANE
    max_running: int | None = None
    immediate: str | None = None
    replay: bool = False
    isolate: bool | Isolation = False

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ValueError("a tool's name has 1 to 128 letters, digits, underscores, hyphens and dots")
        if self.task not in get_args(TaskSupport):
            raise ValueError(f"task must be one of {', '.join(get_args(TaskSupport))}, not {self.task!r}")
        if not LANE.fullmatch(self.lane) or self.lane == PLAIN_LANE:
            raise ValueError(
                f"a lane has 1 to 64 letters, digits, underscores and hyphens, and {PLAIN_LANE!r} is the server's own"
            )
        if not isinstance(self.isolate, bool | Isolation):
            raise TypeError(f"isolate is True, False or an Isolation, not {self.isolate!r}")
        _require_count("max_attempts", self.max_attempts)
        _require_count("max_running", self.max_running)

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        *,
        context: type,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        timeout: Duration | None = None,
        min_ttl: Duration | None = None,
        annotations: Mapping[str, Any] | ToolAnnotations | None = None,
        icons: Icons | None = None,
        input_schema: type[BaseModel] | None = None,
        output_schema: Any = FROM_ANNOTATION,
        **handling: Unpack[Handling],
    ) -> "Tool":
        """The tool that ``function`` is; the server fills its parameter annotated with the class ``context``."""
        return cls(
            name=name_of(function) if name is None else name,
            title=title,
            description=docstring_of(function) if description is None else description,
            function=function,
            is_async=is_async(function),
            parameters=Parameters.of(signature_of(function), context, input_schema),
            returns=Returns.of(_returned(function, output_schema)),
            annotations=written_annotations(annotations),
            icons=written_icons(icons),
            timeout_ms=None if timeout is None else milliseconds(timeout),
            min_ttl_ms=None if min_ttl is None else milliseconds(min_ttl),
            **handling,
        )

    @property
    def key(self) -> str:
        """Its name."""
        return self.name

    @property
    def isolation(self) -> Isolation | None:
        """How its processes are bounded; None without any."""
        if isinstance(self.isolate, Isolation):
            return self.isolate
        return Isolation() if self.isolate else None

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments: always an object."""
        return self.parameters.schema

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """The JSON Schema of ``structuredContent``, or None for a tool without any."""
        return self.returns.schema

    @property
    def context_parameter(self) -> str | None:
        """The name of the parameter that takes the Context, if there is one."""
        return self.parameters.injected

    def queue_for(self, *, as_task: bool) -> str:
        """Where a call waits: in the lane of its kind, or in a queue of its own if ``max_running`` bounds the tool.

        What stands behind the colon names the cap: tasks and plain calls of a tool share it.
        """
        lane = self.lane if as_task else PLAIN_LANE
        return lane if self.max_running is None else f"{lane}:{self.name}"

    @property
    def ttl_floor_ms(self) -> int | None:
        """The least ttl a task of this tool is granted, or None where the author declared nothing."""
        return find_floor(self.timeout_ms, self.min_ttl_ms)

    def definition(self) -> dict[str, Any]:
        """The Tool object of ``tools/list``; its schemas are shared, so don't change them."""
        written = {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input_schema,
            "outputSchema": self.output_schema,
            "annotations": self.annotations or None,
            "icons": self.icons,
            "execution": {"taskSupport": self.task},  # T-103
        }
        return {key: value for key, value in written.items() if value is not None}

    def bind(self, arguments: object) -> dict[str, Any]:
        """JSON ``arguments`` as keyword arguments, without the context; InvalidArguments names each bad field."""
        return self.parameters.bind(arguments)

    def render(self, value: Any, arguments: object = None) -> dict[str, Any]:
        """The CallToolResult of a return value, as a JSON object; ToolError for a value that can't be one."""
        return self.returns.render(value)

    def fail(self, text: str) -> Outcome:
        """A result with ``isError``: what a tool can't do is for the model to read."""
        return Outcome.of_result(error_result(text))

    def refuse(self, error: ReceiverError, *, as_task: bool) -> Outcome:
        """The error where a task was asked for, and a result with ``isError`` for a plain call (X-18)."""
        return Outcome.of_error(error) if as_task else self.fail(error.message)

    def attempts_for(self, *, as_task: bool, default: int) -> int:
        """How often this tool is run at most; ``default`` is for where its author said nothing against it."""
        if self.max_attempts is not None:
            return self.max_attempts
        repeatable = self.annotations.get("idempotentHint", False)
        if as_task:
            return 1 if self.annotations.get("destructiveHint", False) and not repeatable else default
        return default if repeatable or self.annotations.get("readOnlyHint", False) else 1


def _returned(function: Callable[..., Any], output_schema: Any) -> Any:
    if isinstance(output_schema, Mapping):
        raise TypeError("output_schema is a type, or None: results are checked against it")
    return signature_of(function).return_annotation if output_schema is FROM_ANNOTATION else output_schema


def _require_count(option: str, value: int | None) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise TypeError(f"{option} is a whole number, not {value!r}")
    if value is not None and value < 1:
        raise ValueError(f"{option} is 1 or more, not {value}")
