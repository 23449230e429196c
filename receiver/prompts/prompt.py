"""A prompt: a function that makes messages of its arguments, and what clients are told of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from receiver.operation import PlainOperation
from receiver.prompts.messages import result_of
from receiver.protocol.errors import InvalidArguments
from receiver.tools.duration import Duration, milliseconds
from receiver.tools.function import docstring_of, is_async, name_of
from receiver.tools.icons import Icons, written_icons
from receiver.tools.schema import Parameters, signature_of
from receiver.tools.tool import NAME


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Prompt(PlainOperation):
    """Made by ``of``."""

    noun: ClassVar[str] = "Prompt"

    name: str
    title: str | None
    description: str | None
    icons: list[dict[str, Any]] | None
    function: Callable[..., Any]
    is_async: bool
    parameters: Parameters
    timeout_ms: int | None

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ValueError("a prompt's name has 1 to 128 letters, digits, underscores, hyphens and dots")

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        *,
        context: type,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: Icons | None = None,
        timeout: Duration | None = None,
    ) -> "Prompt":
        """The prompt that ``function`` is; the server fills its parameter annotated with the class ``context``."""
        return cls(
            name=name_of(function) if name is None else name,
            title=title,
            description=docstring_of(function) if description is None else description,
            icons=written_icons(icons),
            function=function,
            is_async=is_async(function),
            parameters=Parameters.of(signature_of(function), context),
            timeout_ms=None if timeout is None else milliseconds(timeout),
        )

    @property
    def key(self) -> str:
        """Its name."""
        return self.name

    @property
    def context_parameter(self) -> str | None:
        """The name of the parameter that takes the Context, if there is one."""
        return self.parameters.injected

    def definition(self) -> dict[str, Any]:
        """The Prompt object of ``prompts/list``."""
        written = {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "arguments": [_define(*argument) for argument in self.parameters.describe()] or None,
            "icons": self.icons,
        }
        return {key: value for key, value in written.items() if value is not None}

    def bind(self, arguments: Any) -> dict[str, Any]:
        """``arguments``, all strings on the wire, as keyword arguments; InvalidArguments names what is bad."""
        for name in self.parameters.names if isinstance(arguments, dict) else ():
            if not isinstance(arguments.get(name, ""), str):
                raise InvalidArguments(f"Invalid arguments: {name}: must be a string")
        return self.parameters.bind(arguments)

    def render(self, value: Any, arguments: object = None) -> dict[str, Any]:
        """The GetPromptResult of a return value, as a JSON object; ToolError for a value that can't be one."""
        return result_of(value, self.description)


def _define(name: str, description: str | None, required: bool) -> dict[str, Any]:
    argument = {"name": name, "description": description, "required": required}
    return {key: value for key, value in argument.items() if value is not None}
