"""A function's signature as a JSON Schema, and JSON arguments as its keyword arguments."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import orjson
from pydantic import BaseModel, ConfigDict, RootModel, TypeAdapter, ValidationError, create_model
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
    """What a function takes: ``names`` from its caller, and ``injected``, the one parameter that the server fills.

    Its ``model`` has a field for each name, behind a ``prefix``.
    """

    names: tuple[str, ...]
    injected: str | None
    model: type[BaseModel]
    schema: dict[str, Any]
    prefix: str = PREFIX

    @classmethod
    def of(cls, signature: inspect.Signature, injected: type, model: type[BaseModel] | None = None) -> "Parameters":
        """The parameters of ``signature``; the one annotated with the class ``injected`` is not the caller's.

        The fields of a ``model`` stand for the annotations.  TypeError for one that does not fit, for a parameter that
        can't be passed by name, and for an annotation that has no JSON Schema.
        """
        for parameter in signature.parameters.values():
            _require_named(parameter)
        filled = [name for name, it in signature.parameters.items() if _mentions(it.annotation, injected)]
        if len(filled) > 1:
            raise TypeError(f"more than one parameter is a {injected.__name__}: {', '.join(filled)}")
        context = filled[0] if filled else None
        named = [parameter for name, parameter in signature.parameters.items() if name not in filled]
        if model is not None:
            return cls(_fitting_names(model, named), context, model, _schema_of(model), prefix="")
        model = _model_of(named)
        return cls(tuple(parameter.name for parameter in named), context, model, _schema_of(model))

    def choices(self, name: str) -> list[str]:
        """The strings that the parameter ``name`` takes, if its annotation lists them: of a Literal or an Enum."""
        return _choices_of(self.model.model_fields[self.prefix + name].annotation)

    def describe(self) -> Iterator[tuple[str, str | None, bool]]:
        """Each name with its description, and whether it has to be given."""
        for name in self.names:
            field = self.model.model_fields[self.prefix + name]
            yield name, field.description, field.is_required()

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
        return {name: getattr(bound, self.prefix + name) for name in self.names}


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
        raise TypeError(f"parameter {parameter} can't be passed by name; arguments are named")


def _mentions(annotation: Any, wanted: type) -> bool:
    if get_origin(annotation) is Annotated:
        return _mentions(get_args(annotation)[0], wanted)
    if get_origin(annotation) in (Union, UnionType):
        return any(_mentions(member, wanted) for member in get_args(annotation))
    return inspect.isclass(annotation) and issubclass(annotation, wanted)


def _fitting_names(model: object, parameters: list[inspect.Parameter]) -> tuple[str, ...]:
    """The fields of an author's model; TypeError unless the function can be called with them alone."""
    if not (inspect.isclass(model) and issubclass(model, BaseModel)) or issubclass(model, RootModel):
        raise TypeError("input_schema is a pydantic model with fields: arguments are checked against it")
    fields, names = model.model_fields, [parameter.name for parameter in parameters]
    if unknown := [name for name in fields if name not in names]:
        raise TypeError(f"the function has no parameter for {', '.join(unknown)} of its input_schema")
    needed = [parameter.name for parameter in parameters if parameter.default is parameter.empty]
    if missing := [name for name in needed if name not in fields]:
        raise TypeError(f"input_schema has no field for {', '.join(missing)}")
    return tuple(fields)


def _schema_of(model: type[BaseModel]) -> dict[str, Any]:
    schema = json_schema(TypeAdapter(model), "validation")
    if schema.get("title") == model.__name__:  # which pydantic took for want of one
        del schema["title"]
    return schema


def _choices_of(annotation: Any) -> list[str]:
    if get_origin(annotation) in (Annotated, Union, UnionType):
        members = get_args(annotation)[:1] if get_origin(annotation) is Annotated else get_args(annotation)
        return list(dict.fromkeys(choice for member in members for choice in _choices_of(member)))
    listed: Iterable[Any] = ()
    if get_origin(annotation) is Literal:
        listed = get_args(annotation)
    elif inspect.isclass(annotation) and issubclass(annotation, Enum):
        listed = annotation
    values = [choice.value if isinstance(choice, Enum) else choice for choice in listed]
    return [value for value in values if isinstance(value, str)]


def _model_of(parameters: list[inspect.Parameter]) -> type[BaseModel]:
    config = ConfigDict(extra="forbid", alias_generator=lambda field: field.removeprefix(PREFIX))
    fields: dict[str, Any] = {PREFIX + parameter.name: _field_of(parameter) for parameter in parameters}
    try:
        return create_model("Arguments", __config__=config, **fields)
    except PydanticUserError as error:
        raise TypeError(_first_line(error)) from error


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
