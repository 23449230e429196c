"""Forms: flat objects in the JSON Schema that MCP 2025-11-25 restricts elicitation to.

A field is a text, a number, a boolean, one choice of several texts, or several choices.  Choices may have titles
(SEP-1330) and every field a default (SEP-1034).
"""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.errors import PydanticUserError
from pydantic_core import SchemaError

from receiver.protocol.form_value import compile_pattern, find_fault
from receiver.protocol.text_format import FORMATS

Schema = Mapping[str, Any]

_NULL = {"type": "null"}
_REMARKS = {"$comment", "deprecated", "examples", "readOnly", "writeOnly"}  # they bind no answer, and are left out
_ROOT = {"$defs", "$schema", "additionalProperties", "description", "properties", "required", "title", "type"}
_ANY_FIELD = {"default", "description", "title", "type"}
_FIELDS = {
    "string": {"format", "maxLength", "minLength", "pattern"},
    "number": {"maximum", "minimum"},
    "integer": {"maximum", "minimum"},
    "boolean": set[str](),
    "array": {"items", "maxItems", "minItems"},
}
_CHOICES = {"enum", "enumNames", "oneOf"}  # enumNames is how titles were written before oneOf


def requested_schema(form: type[BaseModel] | Schema) -> dict[str, Any]:
    """The ``requestedSchema`` of an elicitation, from a pydantic model or a JSON Schema.

    Where a field may be null, its answer may be left out.  The error names the field: TypeError for what a form can't
    say, ValueError for what makes no sense, such as a default that does not fit.
    """
    schema = form if isinstance(form, Mapping) else _schema_of(form)
    if schema.get("type") != "object":
        raise TypeError("a form is an object")
    if unknown := schema.keys() - _ROOT - _REMARKS:
        raise TypeError(f"a form can't say {', '.join(sorted(unknown))}")
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        raise TypeError("a form has an object of properties, and a list of those that are required")
    fields = {name: _restrict_named(name, field, schema.get("$defs", {})) for name, field in properties.items()}
    if missing := [name for name in required if name not in fields]:
        raise ValueError(f"required, but no field of the form: {', '.join(map(str, missing))}")
    return {"type": "object", "properties": fields} | ({"required": list(required)} if required else {})


def _schema_of(form: object) -> Schema:
    if not (isinstance(form, type) and issubclass(form, BaseModel)):
        raise TypeError("a form is a pydantic model or a JSON Schema")
    try:
        return form.model_json_schema()
    except PydanticUserError as error:
        raise TypeError(str(error).partition("\n")[0]) from error


def _restrict_named(name: str, field: Schema, definitions: Schema) -> dict[str, Any]:
    try:
        return _restrict(field, definitions)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _restrict(schema: Schema, definitions: Schema) -> dict[str, Any]:
    field = _write_out(schema, definitions)
    kind = field.get("type")
    if not isinstance(kind, str) or kind not in _FIELDS:
        raise TypeError("a form has texts, numbers, booleans and choices of texts, and nothing nested")
    if kind == "array":
        field["items"] = _restrict_items(field.get("items", {}), definitions)
    _require_keywords(field, _CHOICES if kind == "string" and field.keys() & _CHOICES else _FIELDS[kind])
    if "default" in field and (fault := find_fault(field, field["default"])):
        raise ValueError(f"its default {fault}")
    return field


def _restrict_items(schema: Schema, definitions: Schema) -> dict[str, Any]:
    items = _write_out(schema, definitions)
    kept = {keyword: value for keyword, value in items.items() if keyword not in ("description", "title")}
    if kept.keys() == {"anyOf"} or (kept.keys() == {"enum", "type"} and kept["type"] == "string"):
        _require_keywords(kept, {"anyOf", "enum"})
        return kept
    raise TypeError("a list in a form is one of choices: texts in enum, or with titles in anyOf")


def _write_out(schema: Schema, definitions: Schema) -> dict[str, Any]:
    """``schema`` with its reference followed, without null among its types, and with a const as its only choice."""
    if not isinstance(schema, Mapping):
        raise TypeError("its schema must be an object")
    field = {keyword: value for keyword, value in schema.items() if keyword not in _REMARKS}
    if "$ref" in field:
        name = str(field.pop("$ref")).removeprefix("#/$defs/")
        if name not in definitions:
            raise ValueError(f"there is no definition {name}, or it is one of itself")
        return _write_out({**definitions[name], **field}, {key: definitions[key] for key in definitions if key != name})
    others = [branch for branch in field.get("anyOf", ()) if branch != _NULL]
    if len(others) == 1 < len(field["anyOf"]):
        del field["anyOf"]
        if field.get("default", ...) is None:
            del field["default"]
        return _write_out({**others[0], **field}, definitions)
    if "const" in field:
        field["enum"] = [field.pop("const")]
    return field


def _require_keywords(field: Schema, allowed: set[str]) -> None:
    for keyword, value in field.items():
        if keyword not in allowed | _ANY_FIELD:
            raise TypeError(f"a form can't say {keyword} of a field like this")
        fits, expected = _KEYWORDS.get(keyword, _ANYTHING)
        if not fits(value):
            raise ValueError(f"{keyword} must be {expected}")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_pattern(value: object) -> bool:
    try:
        compile_pattern(str(value))
    except SchemaError:
        return False
    return isinstance(value, str)


def _is_format(value: object) -> bool:
    return isinstance(value, str) and value in FORMATS


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and 0 < len(set(value)) == len(value)


def _are_titled(value: object) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return all(
        isinstance(it, Mapping) and it.keys() == {"const", "title"} and all(map(_is_text, it.values())) for it in value
    )


Keyword = tuple[Callable[[object], bool], str]

_COUNT: Keyword = (_is_count, "a whole number, 0 or more")
_NUMBER: Keyword = (_is_number, "a number")
_TEXT: Keyword = (_is_text, "a text")
_TITLED: Keyword = (_are_titled, "a list of choices, each with a text as const and a title")
_ANYTHING: Keyword = (lambda value: True, "")
_KEYWORDS: dict[str, Keyword] = {
    "title": _TEXT,
    "description": _TEXT,
    "minLength": _COUNT,
    "maxLength": _COUNT,
    "minItems": _COUNT,
    "maxItems": _COUNT,
    "minimum": _NUMBER,
    "maximum": _NUMBER,
    "pattern": (_is_pattern, "a pattern without look-around and back references"),
    "format": (_is_format, f"one of {', '.join(FORMATS)}"),
    "enum": (_are_texts, "a list of different texts"),
    "enumNames": (lambda value: isinstance(value, list) and all(map(_is_text, value)), "a list of texts"),
    "oneOf": _TITLED,
    "anyOf": _TITLED,
}
