"""A function's signature as a JSON Schema, and JSON arguments as its keyword arguments."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import orjson
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import ErrorDetails

from receiver.protocol.errors import InvalidArguments

# A parameter may have any name, but a field of a pydantic model may not: "copy" and "model_x" belong to BaseModel,
# "_x" is private.  So fields carry a prefix, and the alias generator takes it off again.
PREFIX = "argument_"
FAULTS_NAMED = 20
PATH_LENGTH = 100
PLAINER = {"missing": "required", "extra_forbidden": "unknown field"}


@dataclass(frozen=True, eq=False, slots=True)
class Parameters:
    """What a function takes: ``names`` from its caller, and ``injected``, the one parameter that the server fills."""

    names: tuple[str, ...]
    injected: str | None
    model: type[BaseModel]
    schema: dict[str, Any]

    @classmethod
    def of(cls, signature: inspect.Signature, injected: type) -> "Parameters":
        """The parameters of ``signature``; the one annotated with the class ``injected`` is not the caller's.

        TypeError for a parameter that can't be passed by name, and for an annotation that has no JSON Schema.
        """
        for parameter in signature.parameters.values():
            _require_named(parameter)
        filled = [name for name, it in signature.parameters.items() if _mentions(it.annotation, injected)]
        if len(filled) > 1:
            raise TypeError(f"more than one parameter is a {injected.__name__}: {', '.join(filled)}")
        names = tuple(name for name in signature.parameters if name not in filled)
        model, schema = _model_of([signature.parameters[name] for name in names])
        return cls(names, filled[0] if filled else None, model, schema)

    def bind(self, arguments: object) -> dict[str, Any]:
        """``arguments``, a decoded JSON object or None for none, as keyword arguments with defaults filled in.

        They are encoded once more, since only pydantic's JSON mode takes a date from a string in a strict field.
        InvalidArguments names each field that does not fit.
        """
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            raise InvalidArguments("Invalid arguments: they must be an object")
        try:
            encoded = orjson.dumps(arguments)
        except TypeError:
            raise InvalidArguments("Invalid arguments: they must be JSON") from None
        try:
            bound = self.model.model_validate_json(encoded)
        except ValidationError as error:
            raise InvalidArguments(f"Invalid arguments: {_faults(error)}") from None
        return {name: getattr(bound, PREFIX + name) for name in self.names}


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of ``function`` with every annotation resolved; TypeError where that can't be done."""
    try:
        return inspect.signature(function, eval_str=True)
    except NameError as error:
        raise TypeError(f"an annotation can't be resolved: {error}") from error
    except ValueError as error:
        raise TypeError(str(error)) from error


def json_schema(adapter: TypeAdapter[Any], mode: Literal["validation", "serialization"]) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a type, its root written out; TypeError if it has none."""
    try:
        schema = adapter.json_schema(schema_generator=_Generator, mode=mode)
    except PydanticUserError as error:
        raise TypeError(_first_line(error)) from error
    return _with_inline_root(schema)


def adapter_of(annotation: Any) -> TypeAdapter[Any]:
    """What validates and writes values of ``annotation``; TypeError for a type that pydantic does not know."""
    try:
        return TypeAdapter(annotation)
    except PydanticUserError as error:
        raise TypeError(_first_line(error)) from error


def path_of(fault: ErrorDetails, root: str) -> str:
    """Where in the validated value ``fault`` lies, as in ``rows.3.name``; ``root`` if it is the value itself."""
    path = ".".join(map(str, fault["loc"])) or root
    return path if len(path) <= PATH_LENGTH else path[: PATH_LENGTH - 1] + "…"


class _Generator(GenerateJsonSchema):
    """Without the title that pydantic makes of each field's name, which tells a reader nothing new."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _require_named(parameter: inspect.Parameter) -> None:
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise TypeError(f"parameter {parameter} can't be passed by name; arguments of a tool are named")


def _mentions(annotation: Any, wanted: type) -> bool:
    if get_origin(annotation) is Annotated:
        return _mentions(get_args(annotation)[0], wanted)
    if get_origin(annotation) in (Union, UnionType):
        return any(_mentions(member, wanted) for member in get_args(annotation))
    return inspect.isclass(annotation) and issubclass(annotation, wanted)


def _model_of(parameters: list[inspect.Parameter]) -> tuple[type[BaseModel], dict[str, Any]]:
    config = ConfigDict(extra="forbid", alias_generator=lambda field: field.removeprefix(PREFIX))
    fields: dict[str, Any] = {PREFIX + parameter.name: _field_of(parameter) for parameter in parameters}
    try:
        model = create_model("Arguments", __config__=config, **fields)
    except PydanticUserError as error:
        raise TypeError(_first_line(error)) from error
    schema = json_schema(TypeAdapter(model), "validation")
    del schema["title"]
    return model, schema


def _field_of(parameter: inspect.Parameter) -> tuple[Any, Any]:
    annotation = Any if parameter.annotation is parameter.empty else parameter.annotation
    default = ... if parameter.default is parameter.empty else parameter.default
    return annotation, default


def _with_inline_root(schema: dict[str, Any]) -> dict[str, Any]:
    """A type that refers to itself comes as a bare ``$ref``, but a tool's schema is an object at its root (L-10)."""
    reference = schema.get("$ref", "")
    if not reference.startswith("#/$defs/"):
        return schema
    rest = {key: value for key, value in schema.items() if key != "$ref"}
    definition: dict[str, Any] = schema["$defs"][reference.removeprefix("#/$defs/")]
    return {**definition, **rest}


def _faults(error: ValidationError) -> str:
    """One line that names each field and what is wrong with it; never the values, which may be secrets."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [f"{path_of(fault, 'arguments')}: {_reason(fault)}" for fault in faults[:FAULTS_NAMED]]
    if len(faults) > FAULTS_NAMED:
        lines.append(f"and {len(faults) - FAULTS_NAMED} more")
    return "; ".join(lines)


def _reason(fault: ErrorDetails) -> str:
    return PLAINER.get(fault["type"], fault["msg"].removeprefix("Value error, "))


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
