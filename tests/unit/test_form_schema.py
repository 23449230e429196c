from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import IntEnum, StrEnum
from importlib import import_module
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import AnyUrl, BaseModel, ConfigDict, Field, HttpUrl, SecretStr

from receiver.protocol.form_schema import requested_schema

jsonschema: Any = import_module("jsonschema")  # it has no types


class Colour(StrEnum):
    """A choice."""

    RED = "red"
    GREEN = "green"


class Level(IntEnum):
    LOW = 1


class Inner(BaseModel):
    text: str


TEXT = {"type": "string"}
LABELS = {"title": TEXT, "description": TEXT}
COUNT = {"type": "integer", "minimum": 0}
TEXTS = {"type": "array", "items": TEXT, "minItems": 1}
TITLED = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "properties": {"const": TEXT, "title": TEXT},
        "required": ["const", "title"],
        "additionalProperties": False,
    },
}


def shape(type_: list[str], required: tuple[str, ...] = (), **keywords: Any) -> dict[str, Any]:
    properties = {"type": {"enum": type_}, **LABELS, **keywords}
    return {"properties": properties, "required": ["type", *required], "additionalProperties": False}


# What the page of the specification allows, as a schema of schemas.
ALLOWED = {
    "type": "object",
    "properties": {
        "type": {"const": "object"},
        "required": TEXTS,
        "properties": {
            "additionalProperties": {
                "anyOf": [
                    shape(
                        ["string"],
                        default=TEXT,
                        minLength=COUNT,
                        maxLength=COUNT,
                        pattern=TEXT,
                        format={"enum": ["email", "uri", "date", "date-time"]},
                    ),
                    shape(
                        ["number", "integer"],
                        default={"type": "number"},
                        minimum={"type": "number"},
                        maximum={"type": "number"},
                    ),
                    shape(["boolean"], default={"type": "boolean"}),
                    shape(["string"], ("enum",), default=TEXT, enum=TEXTS, enumNames=TEXTS),
                    shape(["string"], ("oneOf",), default=TEXT, oneOf=TITLED),
                    shape(
                        ["array"],
                        ("items",),
                        default={"type": "array", "items": TEXT},
                        minItems=COUNT,
                        maxItems=COUNT,
                        items={"anyOf": [shape(["string"], ("enum",), enum=TEXTS), {"properties": {"anyOf": TITLED}}]},
                    ),
                ]
            }
        },
    },
    "required": ["type", "properties"],
    "additionalProperties": False,
}


def restrict(form: Any) -> dict[str, Any]:
    schema = requested_schema(form)
    jsonschema.Draft202012Validator(ALLOWED).validate(schema)
    return schema


def restrict_field(annotation: Any, default: Any = ...) -> tuple[dict[str, Any], bool]:
    """The schema of a model's field, and whether it is required."""

    class Form(BaseModel):
        field: annotation = default

    schema = restrict(Form)
    return schema["properties"]["field"], schema.get("required") == ["field"]


class TestModels:
    @pytest.mark.parametrize(
        ("annotation", "expected"),
        [
            (str, {"type": "string"}),
            (int, {"type": "integer"}),
            (float, {"type": "number"}),
            (bool, {"type": "boolean"}),
            (date, {"type": "string", "format": "date"}),
            (datetime, {"type": "string", "format": "date-time"}),
            (AnyUrl, {"type": "string", "format": "uri", "minLength": 1}),
            (HttpUrl, {"type": "string", "format": "uri", "minLength": 1, "maxLength": 2083}),
            (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
            (Literal["a"], {"type": "string", "enum": ["a"]}),
            (Colour, {"type": "string", "enum": ["red", "green"], "description": "A choice."}),
            (Colour | None, {"type": "string", "enum": ["red", "green"], "description": "A choice."}),
            (str | None, {"type": "string"}),
            (list[Literal["a", "b"]], {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}),
            (list[Literal["a"]], {"type": "array", "items": {"type": "string", "enum": ["a"]}}),
            (list[Colour], {"type": "array", "items": {"type": "string", "enum": ["red", "green"]}}),
            (list[Colour] | None, {"type": "array", "items": {"type": "string", "enum": ["red", "green"]}}),
            (Annotated[str, Field(min_length=1, max_length=9)], {"type": "string", "minLength": 1, "maxLength": 9}),
            (Annotated[str, Field(pattern="^a")], {"type": "string", "pattern": "^a"}),
            (Annotated[int, Field(ge=1, le=9)], {"type": "integer", "minimum": 1, "maximum": 9}),
            (Annotated[str, Field(examples=["a"], deprecated=True)], {"type": "string"}),
            (
                Annotated[list[Colour], Field(min_length=1, max_length=2)],
                {"type": "array", "items": {"type": "string", "enum": ["red", "green"]}, "minItems": 1, "maxItems": 2},
            ),
        ],
    )
    def test_fields(self, annotation: Any, expected: dict[str, Any]) -> None:
        field, required = restrict_field(annotation)
        assert {name: value for name, value in field.items() if name != "title"} == expected
        assert required

    def test_a_field_has_a_label(self) -> None:
        assert restrict_field(Annotated[str, Field(title="Name", description="Yours.")])[0] == {
            "type": "string",
            "title": "Name",
            "description": "Yours.",
        }

    @pytest.mark.parametrize(
        ("annotation", "default", "written"),
        [
            (str, "x", "x"),
            (int, 3, 3),
            (bool, False, False),
            (float, 0.5, 0.5),
            (date, date(2025, 11, 25), "2025-11-25"),
            (Colour, Colour.RED, "red"),
            (Colour | None, Colour.RED, "red"),
            (list[Colour], [Colour.RED], ["red"]),
            (str | None, "x", "x"),
        ],
    )
    def test_defaults(self, annotation: Any, default: Any, written: Any) -> None:
        field, required = restrict_field(annotation, default)
        assert (field["default"], required) == (written, False)

    @pytest.mark.parametrize("annotation", [str | None, Colour | None, list[Colour] | None, None | int])
    def test_what_may_be_null_may_be_left_out(self, annotation: Any) -> None:
        field, required = restrict_field(annotation, None)
        assert ("default" in field, required) == (False, False)

    def test_the_whole_form(self) -> None:
        class Form(BaseModel):
            """Where to send it."""

            model_config = ConfigDict(extra="forbid", title="Address")
            street: str
            zip_code: str = Field(alias="zipCode")
            note: str = ""

        assert restrict(Form) == {
            "type": "object",
            "properties": {
                "street": {"type": "string", "title": "Street"},
                "zipCode": {"type": "string", "title": "Zipcode"},
                "note": {"type": "string", "title": "Note", "default": ""},
            },
            "required": ["street", "zipCode"],
        }

    def test_a_form_without_fields_only_asks_for_consent(self) -> None:
        class Form(BaseModel):
            pass

        assert restrict(Form) == {"type": "object", "properties": {}}

    @pytest.mark.parametrize(
        "annotation",
        [
            Inner,
            list[str],
            list[int],
            list[Inner],
            list[Literal[1, 2]],
            set[Colour],
            tuple[Colour, Colour],
            dict[str, str],
            str | int,
            Literal["a", 1],
            Literal[1, 2],
            Level,
            None,
            Any,
            Decimal,
            Annotated[int, Field(gt=0)],
            Annotated[float, Field(multiple_of=0.5)],
            Callable[[], None],
        ],
    )
    def test_what_a_form_can_not_say(self, annotation: Any) -> None:
        with pytest.raises(TypeError, match=r"form|JsonSchema"):
            restrict_field(annotation)

    @pytest.mark.parametrize("annotation", [SecretStr, UUID, time, timedelta, bytes])
    def test_formats_that_a_form_lacks(self, annotation: Any) -> None:  # E-07: a password is none of them
        with pytest.raises(ValueError, match=r"^field: format must be one of date, date-time, email, uri$"):
            restrict_field(annotation)

    def test_a_pattern_that_needs_backtracking(self) -> None:
        class Form(BaseModel):
            model_config = ConfigDict(regex_engine="python-re")
            field: str = Field(pattern="(?=a)b")

        with pytest.raises(ValueError, match=r"^field: pattern must be a pattern without look-around"):
            requested_schema(Form)

    @pytest.mark.parametrize("form", [Inner(text="x"), str, int, None, "object", [], Colour])
    def test_what_is_no_form(self, form: Any) -> None:
        with pytest.raises(TypeError, match="a form is a pydantic model or a JSON Schema"):
            requested_schema(form)

    def test_a_form_in_itself(self) -> None:
        class Form(BaseModel):
            again: "Form | None" = None

        with pytest.raises(TypeError, match="a form is an object"):
            requested_schema(Form)


def form_of(field: Any, **root: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"field": field}, **root}


class TestSchemas:
    @pytest.mark.parametrize(
        "field",
        [
            {"type": "string", "title": "Colour", "description": "Choose.", "enum": ["a", "b"], "default": "a"},
            {"type": "string", "oneOf": [{"const": "#f00", "title": "Red"}], "default": "#f00"},
            {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]},
            {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 1, "default": ["b"]},
            {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}, "maxItems": 1},
            {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]}},
            {"type": "string", "format": "email", "default": "a@b.example"},
            {"type": "number", "minimum": -1.5, "maximum": 2, "default": 0},
            {"type": "boolean", "default": True},
        ],
    )
    def test_what_is_restricted_already_stays(self, field: dict[str, Any]) -> None:
        assert restrict(form_of(field, required=["field"])) == form_of(field, required=["field"])

    def test_labels_of_the_form_are_left_out(self) -> None:
        root = {"$schema": "x", "title": "x", "description": "x", "additionalProperties": False, "$comment": "x"}
        assert restrict(form_of({"type": "string"}, **root)) == form_of({"type": "string"})

    def test_the_author_s_schema_is_not_changed(self) -> None:
        field = {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], "default": None}
        definitions = {"A": {"const": "a", "type": "string"}}
        form = form_of(field, **{"$defs": definitions, "required": []})
        assert restrict(form) == form_of({"type": "string", "enum": ["a"]})
        assert form == form_of(field, **{"$defs": definitions, "required": []})
        assert field.keys() == {"anyOf", "default"}
        assert definitions == {"A": {"const": "a", "type": "string"}}

    def test_what_stands_beside_a_reference_counts(self) -> None:
        form = form_of({"$ref": "#/$defs/A", "title": "B"}, **{"$defs": {"A": {"type": "string", "title": "A"}}})
        assert restrict(form) == form_of({"type": "string", "title": "B"})

    @pytest.mark.parametrize(
        ("form", "message"),
        [
            ({}, "a form is an object"),
            ({"type": "string"}, "a form is an object"),
            (form_of({"type": "string"}, allOf=[], minProperties=1), "a form can't say allOf, minProperties"),
            (form_of({"type": "string"}, required="field"), "a form has an object of properties, and a list"),
            ({"type": "object", "properties": []}, "a form has an object of properties, and a list"),
            (form_of("string"), "field: its schema must be an object"),
            (form_of({}), "field: a form has texts, numbers, booleans and choices"),
            (form_of({"type": ["string", "null"]}), "field: a form has texts"),
            (form_of({"type": "null"}), "field: a form has texts"),
            (form_of({"type": "object", "properties": {}}), "field: .* nothing nested"),
            (
                form_of({"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "null"}, {"type": "null"}, {}]}),
                "field: ",
            ),
            (form_of({"type": "string", "enum": ["a"], "minLength": 1}), "field: a form can't say minLength"),
            (form_of({"type": "integer", "enum": [1]}), "field: a form can't say enum"),
            (form_of({"type": "string", "anyOf": [{"const": "a", "title": "A"}]}), "field: a form can't say anyOf"),
            (form_of({"type": "array"}), "field: a list in a form is one of choices"),
            (form_of({"type": "array", "items": 1}), "field: its schema must be an object"),
            (form_of({"type": "array", "items": {"type": "string"}}), "field: a list in a form is one of choices"),
            (form_of({"type": "array", "items": {"enum": ["a"]}}), "field: a list in a form is one of choices"),
            (
                form_of({"type": "array", "items": {"type": "string", "enum": ["a"]}, "uniqueItems": True}),
                "field: a form can't say uniqueItems",
            ),
        ],
    )
    def test_what_a_form_can_not_say(self, form: Any, message: str) -> None:
        with pytest.raises(TypeError, match=f"^{message}"):
            requested_schema(form)

    @pytest.mark.parametrize(
        ("field", "message"),
        [
            ({"type": "string", "title": 1}, "title must be a text"),
            ({"type": "string", "minLength": "1"}, "minLength must be a whole number, 0 or more"),
            ({"type": "string", "maxLength": -1}, "maxLength must be a whole number, 0 or more"),
            ({"type": "string", "maxLength": True}, "maxLength must be a whole number, 0 or more"),
            ({"type": "string", "pattern": "("}, "pattern must be a pattern without look-around"),
            ({"type": "string", "pattern": 1}, "pattern must be a pattern without look-around"),
            ({"type": "string", "format": "idn-email"}, "format must be one of date, date-time, email, uri"),
            ({"type": "string", "format": []}, "format must be one of date, date-time, email, uri"),
            ({"type": "number", "minimum": "1"}, "minimum must be a number"),
            ({"type": "number", "maximum": False}, "maximum must be a number"),
            ({"type": "string", "enum": []}, "enum must be a list of different texts"),
            ({"type": "string", "enum": ["a", "a"]}, "enum must be a list of different texts"),
            ({"type": "string", "enum": ["a", 1]}, "enum must be a list of different texts"),
            ({"type": "string", "enum": "ab"}, "enum must be a list of different texts"),
            ({"type": "string", "enum": ["a"], "enumNames": [1]}, "enumNames must be a list of texts"),
            ({"type": "string", "oneOf": []}, "oneOf must be a list of choices"),
            ({"type": "string", "oneOf": {"const": "a"}}, "oneOf must be a list of choices"),
            ({"type": "string", "oneOf": [{"const": "a"}]}, "oneOf must be a list of choices"),
            ({"type": "string", "oneOf": [{"const": "a", "title": 1}]}, "oneOf must be a list of choices"),
            ({"type": "string", "oneOf": ["a"]}, "oneOf must be a list of choices"),
            ({"type": "array", "items": {"anyOf": []}}, "anyOf must be a list of choices"),
            ({"type": "array", "items": {"type": "string", "enum": [1]}}, "enum must be a list of different texts"),
            ({"$ref": "#/$defs/A"}, "there is no definition A"),
            ({"$ref": "#/definitions/A"}, "there is no definition #/definitions/A"),
            ({"type": "string", "default": 1}, "its default must be a text"),
            ({"type": "string", "default": None}, "its default must be a text"),
            ({"type": "string", "enum": ["a"], "default": "b"}, "its default must be one of the choices"),
            ({"type": "integer", "minimum": 1, "default": 0}, "its default must be at least 1"),
            ({"type": "array", "items": {"type": "string", "enum": ["a"]}, "default": ["b"]}, "its default must hold"),
        ],
    )
    def test_what_makes_no_sense(self, field: Any, message: str) -> None:
        with pytest.raises(ValueError, match=f"^field: {message}"):
            requested_schema(form_of(field))

    def test_a_definition_of_itself(self) -> None:
        form = form_of({"$ref": "#/$defs/A"}, **{"$defs": {"A": {"$ref": "#/$defs/A"}}})
        with pytest.raises(ValueError, match=r"^field: there is no definition A, or it is one of itself$"):
            requested_schema(form)

    def test_a_required_field_that_is_none(self) -> None:
        with pytest.raises(ValueError, match=r"^required, but no field of the form: a, b$"):
            requested_schema(form_of({"type": "string"}, required=["field", "a", "b"]))
