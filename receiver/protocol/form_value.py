"""Which values fit a field of a form: a text, a number, a boolean, one choice of several texts, or several choices."""

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any

from pydantic_core import SchemaValidator
from pydantic_core.core_schema import str_schema

from receiver.protocol.text_format import FORMATS

Field = Mapping[str, Any]


def find_fault(field: Field, value: object) -> str | None:
    """What is wrong with ``value`` as an answer to ``field``, which ``form_schema`` made; None if it fits.

    The text never holds the value.
    """
    return _CHECKS[field["type"]](field, value)


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> SchemaValidator:
    """What tells whether a text has a match of ``pattern``, in time linear in its length; SchemaError if none can."""
    return SchemaValidator(str_schema(pattern=pattern, regex_engine="rust-regex", strict=True))


def _check_text(field: Field, value: object) -> str | None:
    if not isinstance(value, str):
        return "must be a text"
    if choices := _choices_of(field):
        return None if value in choices else "must be one of the choices"
    if fault := _check_size(value, field.get("minLength"), field.get("maxLength"), "characters"):
        return fault
    if "pattern" in field and not compile_pattern(field["pattern"]).isinstance_python(value):
        return "must match the pattern"
    if "format" in field and not FORMATS[field["format"]](value):
        return f"must have the format {field['format']}"
    return None


def _check_number(field: Field, value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "must be a number"
    if value < field.get("minimum", value):
        return f"must be at least {field['minimum']}"
    if value > field.get("maximum", value):
        return f"must be at most {field['maximum']}"
    return None


def _check_integer(field: Field, value: object) -> str | None:
    if isinstance(value, float) and not value.is_integer():
        return "must be a whole number"
    return _check_number(field, value)


def _check_boolean(field: Field, value: object) -> str | None:
    return None if isinstance(value, bool) else "must be true or false"


def _check_list(field: Field, value: object) -> str | None:
    if not isinstance(value, list):
        return "must be a list"
    if fault := _check_size(value, field.get("minItems"), field.get("maxItems"), "choices"):
        return fault
    choices = _choices_of(field["items"])
    fits = all(isinstance(item, str) and item in choices for item in value)
    return None if fits else "must hold none but the choices"


def _choices_of(field: Field) -> frozenset[str]:
    """The texts that there are to choose from; none in a field that is free."""
    options = field.get("oneOf", field.get("anyOf", ()))
    return frozenset(field.get("enum", ())) | {option["const"] for option in options}


def _check_size(value: Collection[object], least: int | None, most: int | None, unit: str) -> str | None:
    if least is not None and len(value) < least:
        return f"must have at least {least} {unit}"
    if most is not None and len(value) > most:
        return f"must have at most {most} {unit}"
    return None


_CHECKS: dict[str, Callable[[Field, object], str | None]] = {
    "string": _check_text,
    "number": _check_number,
    "integer": _check_integer,
    "boolean": _check_boolean,
    "array": _check_list,
}
