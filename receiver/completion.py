"""Completion: what the arguments of prompts and templates may be, as far as a user has typed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

from receiver.operation import PlainOperation, Registry
from receiver.prompts.prompt import Prompt
from receiver.protocol.errors import ToolError
from receiver.resources.resource import Resource
from receiver.tools.duration import Duration, milliseconds
from receiver.tools.function import is_async
from receiver.tools.schema import Parameters, signature_of

MOST_SENT = 100  # values in one answer
MOST_COUNTED = 10_000

Completed = Prompt | Resource


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Completion(PlainOperation):
    """Completes one ``argument`` of one prompt or template, whose key is ``ref``.  Made by ``of``."""

    noun: ClassVar[str] = "Completion"

    ref: str
    argument: str
    function: Callable[..., Any]
    is_async: bool
    parameters: Parameters
    timeout_ms: int | None

    @classmethod
    def of(
        cls, function: Callable[..., Any], of: Completed, argument: str, *, context: type, timeout: Duration | None
    ) -> "Completion":
        """The completion that ``function`` is, which takes the value so far and, if it will, the other arguments."""
        _require_argument(of, argument)
        parameters = Parameters.of(signature_of(function), context)
        if len(parameters.names) not in (1, 2):
            raise TypeError("it takes a value, and the arguments that are known already if it will")
        return cls(
            ref=of.key,
            argument=argument,
            function=function,
            is_async=is_async(function),
            parameters=parameters,
            timeout_ms=None if timeout is None else milliseconds(timeout),
        )

    @property
    def key(self) -> str:
        """Whose argument it completes, and which; neither has a space in it."""
        return key_of(self.ref, self.argument)

    @property
    def context_parameter(self) -> str | None:
        """The name of the parameter that takes the Context, if there is one."""
        return self.parameters.injected

    def bind(self, params: Any) -> dict[str, Any]:
        """``{"value": ..., "arguments": ...}`` as keyword arguments, without the context."""
        given = (params["value"], params["arguments"])
        return self.parameters.bind(dict(zip(self.parameters.names, given, strict=False)))

    def render(self, value: Any, params: object = None) -> dict[str, Any]:
        """The CompleteResult of a return value, as a JSON object; ToolError for what is not an iterable of strings."""
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise ToolError("The completion returned something that is no list of strings")
        values = list(islice(value, MOST_COUNTED + 1))
        if not all(isinstance(item, str) for item in values):
            raise ToolError("The completion returned something that is no list of strings")
        return render_values(values)


class Completions(Registry[Completion]):
    """Completions by what they complete."""

    def find(self, ref: str, argument: str) -> Completion | None:
        """The completion of ``argument`` of the prompt or template ``ref``, or None."""
        return self.get(key_of(ref, argument))


def key_of(ref: str, argument: str) -> str:
    """The key of a completion."""
    return f"{ref} {argument}"


def render_values(values: Sequence[str]) -> dict[str, Any]:
    """The CompleteResult of ``values``, of which the first are sent; one too many to be counted has no ``total``."""
    completion: dict[str, Any] = {"values": list(values[:MOST_SENT]), "hasMore": len(values) > MOST_SENT}
    if len(values) <= MOST_COUNTED:
        completion["total"] = len(values)
    return {"completion": completion}


def _require_argument(of: Completed, argument: str) -> None:
    if argument not in of.parameters.names:
        names = ", ".join(of.parameters.names) or "none"
        raise ValueError(f"there is no argument {argument!r} to complete; there are: {names}")
