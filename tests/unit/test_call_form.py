"""Forms that ``receiver call`` has filled in: what a line means, and what is asked."""

from typing import Any

import pytest

from ops.calling.form import Choice, Form, choices_of, describe, read_line, show_value

TITLED = {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "2", "title": "Two"}]}
SEVERAL = {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "maxItems": 2}


@pytest.mark.parametrize(
    ("field", "line", "value"),
    [
        ({"type": "string"}, "  a b ", "a b"),
        ({"type": "string", "default": "x"}, "", "x"),
        ({"type": "integer"}, "3", 3),
        ({"type": "number"}, "2.5", 2.5),
        ({"type": "boolean"}, "Y", True),
        ({"type": "boolean", "default": False}, "", False),
        (TITLED, "r", "r"),
        (TITLED, "Red", "r"),
        (TITLED, "1", "r"),
        (TITLED, "2", "2"),  # a value before a number
        (SEVERAL, "a, 3", ["a", "c"]),
        ({"type": "string", "format": "email"}, "a@b.org", "a@b.org"),
        ({"type": "string"}, "", None),
    ],
)
def test_a_line_is_a_value(field: dict[str, Any], line: str, value: object) -> None:
    assert read_line(field, line, required=False) == value


@pytest.mark.parametrize(
    ("field", "line", "fault"),
    [
        ({"type": "string"}, " ", "is needed"),
        ({"type": "string", "minLength": 3}, "ab", "must have at least 3 characters"),
        ({"type": "string", "format": "date"}, "today", "must have the format date"),
        ({"type": "integer"}, "2.5", "must be a whole number"),
        ({"type": "integer"}, "nan", "must be a whole number"),
        ({"type": "number"}, "inf", "must be a number"),
        ({"type": "number", "maximum": 3}, "4", "must be at most 3"),
        ({"type": "boolean"}, "maybe", "must be yes or no"),
        (TITLED, "3", "must be one of the choices"),
        (SEVERAL, "a, b, c", "must have at most 2 choices"),
    ],
)
def test_a_line_that_does_not_fit(field: dict[str, Any], line: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        read_line(field, line, required=True)


def test_what_is_asked() -> None:
    field = {"type": "integer", "minimum": 1, "maximum": 9, "title": "Seats", "description": "How many."}
    assert describe("seats", field, required=True) == "Seats (whole number, at least 1, at most 9): How many."
    assert describe("kind", TITLED, required=False) == "kind (a choice, may be left out)"
    assert choices_of(TITLED) == [Choice("r", "Red"), Choice("2", "Two")]
    assert choices_of({"type": "string", "enum": ["a"], "enumNames": ["A"]}) == [Choice("a", "A")]
    assert [show_value({}, value) for value in (True, ["a", "b"], 3)] == ["yes", "a, b", "3"]


def test_a_form_is_filled_from_answers_and_defaults() -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "seats": {"type": "integer", "default": 1}, "note": TITLED},
        "required": ["name", "seats"],
    }
    assert Form(schema).fill({"name": "Ada"}) == ({"name": "Ada", "seats": 1}, {})
    assert Form(schema).fill({"seats": "x"})[1] == {"name": "is needed", "seats": "must be a whole number"}


@pytest.mark.parametrize(
    "schema", [None, [], {}, {"type": "object", "properties": {"a": {"type": "object"}}}, {"type": "object", "x": 1}]
)
def test_what_is_no_form(schema: object) -> None:
    with pytest.raises(ValueError, match=r"form|schema"):
        Form(schema)
