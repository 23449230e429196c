"""``find_fault`` judges as a validator of JSON Schema does."""

from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_core import SchemaError

from receiver.protocol.form_value import compile_pattern, find_fault
from receiver.protocol.text_format import FORMATS

jsonschema: Any = import_module("jsonschema")  # it has no types

CHOICES = ["red", "green", "", "é"]
TITLED = [{"const": choice, "title": choice.upper()} for choice in CHOICES]
PATTERNS = ["^a", "b$", "^[a-c]+$", "[0-9]{2,}", ""]

counts = st.integers(0, 4)
bounds = st.integers(-3, 3) | st.floats(-3, 3)
texts = st.fixed_dictionaries(
    {"type": st.just("string")},
    optional={
        "minLength": counts,
        "maxLength": counts,
        "pattern": st.sampled_from(PATTERNS),
        "format": st.sampled_from([*FORMATS]),
    },
)
numbers = st.fixed_dictionaries(
    {"type": st.sampled_from(["number", "integer"])}, optional={"minimum": bounds, "maximum": bounds}
)
lists = st.fixed_dictionaries(
    {"type": st.just("array"), "items": st.sampled_from([{"type": "string", "enum": CHOICES}, {"anyOf": TITLED}])},
    optional={"minItems": counts, "maxItems": counts},
)
fixed: list[dict[str, Any]] = [
    {"type": "boolean"},
    {"type": "string", "enum": CHOICES},
    {"type": "string", "enum": CHOICES, "enumNames": CHOICES},
    {"type": "string", "oneOf": TITLED},
]
fields = texts | numbers | lists | st.sampled_from(fixed)
some_texts = st.sampled_from([*CHOICES, "a@b", "x:y", "2025-11-25", "2025-11-25T10:30:00Z", "12"]) | st.text(
    "abc1é😀", max_size=5
)
values = (
    st.none()
    | st.booleans()
    | st.integers(-4, 4)
    | st.sampled_from([1.0, -0.0, 2.5, 2**70, 1e300])
    | some_texts
    | st.lists(some_texts | st.none() | st.lists(st.none(), max_size=1), max_size=5)
    | st.dictionaries(some_texts, st.none(), max_size=1)
)


def judge(field: dict[str, Any], value: object) -> bool:
    checker = jsonschema.FormatChecker(formats=())
    for name, fits in FORMATS.items():
        checker.checkers[name] = (lambda text, fits=fits: not isinstance(text, str) or fits(text), ())
    return bool(jsonschema.Draft202012Validator(field, format_checker=checker).is_valid(value))


@settings(deadline=None, max_examples=1000)
@given(fields, values)
def test_the_same_verdict(field: dict[str, Any], value: object) -> None:  # E-06
    assert (find_fault(field, value) is None) == judge(field, value)


COLOURS = {"type": "string", "enum": ["red", "green"]}


@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        ({"type": "string"}, 1, "must be a text"),
        (COLOURS, "blue", "must be one of the choices"),
        ({"type": "string", "minLength": 2}, "a", "must have at least 2 characters"),
        ({"type": "string", "maxLength": 0}, "a", "must have at most 0 characters"),
        ({"type": "string", "pattern": "^[0-9]+$"}, "swordfish", "must match the pattern"),
        ({"type": "string", "format": "email"}, "swordfish", "must have the format email"),
        ({"type": "number"}, "1", "must be a number"),
        ({"type": "number"}, True, "must be a number"),
        ({"type": "number", "minimum": 0}, -1, "must be at least 0"),
        ({"type": "number", "maximum": 1.5}, 2, "must be at most 1.5"),
        ({"type": "integer"}, 1.5, "must be a whole number"),
        ({"type": "boolean"}, 1, "must be true or false"),
        ({"type": "array", "items": COLOURS}, "red", "must be a list"),
        ({"type": "array", "items": COLOURS, "minItems": 1}, [], "must have at least 1 choices"),
        ({"type": "array", "items": COLOURS, "maxItems": 1}, ["red", "red"], "must have at most 1 choices"),
        ({"type": "array", "items": COLOURS}, ["red", "swordfish"], "must hold none but the choices"),
    ],
)
def test_the_fault_is_named_and_the_value_is_not(field: dict[str, Any], value: object, fault: str) -> None:
    assert find_fault(field, value) == fault


@pytest.mark.parametrize("pattern", ["(", "(?=a)", r"(a)\1"])
def test_patterns_that_need_more_than_linear_time_do_not_compile(pattern: str) -> None:
    with pytest.raises(SchemaError):
        compile_pattern(pattern)


def test_a_hostile_text_takes_no_longer_than_another() -> None:
    """A backtracking engine would not come back from this one."""
    field = {"type": "string", "pattern": "^(a+)+$"}
    assert find_fault(field, "a" * 100_000 + "!") == "must match the pattern"
