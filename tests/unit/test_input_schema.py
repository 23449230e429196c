"""A model of the author's in place of a tool's annotations."""

from typing import Any, Self

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from pydantic import BaseModel, ConfigDict, Field, RootModel, model_validator

from receiver import Receiver
from receiver.protocol.errors import InvalidArguments
from receiver.tools.schema import Parameters, signature_of

CONDITION: dict[str, Any] = {"if": {"required": ["until"]}, "then": {"required": ["since"]}}


class Injected:
    pass


class Place(BaseModel):
    street: str


class Search(BaseModel):
    """What is looked for."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"$schema": "https://json-schema.org/draft/2020-12/schema", **CONDITION}
    )

    since: int | None = None
    until: int = Field(alias="before", default=9)
    place: Place | None = None

    @model_validator(mode="after")
    def check_order(self) -> Self:
        if self.since is not None and self.since > self.until:
            raise ValueError("since is behind before")
        return self


def search(since: Any, until: Any, place: Any, limit: int = 3, *, ctx: Injected | None = None) -> None: ...


def parameters() -> Parameters:
    return Parameters.of(signature_of(search), Injected, Search)


def test_all_that_the_model_says_is_shown() -> None:
    schema = parameters().schema
    Draft202012Validator.check_schema(schema)
    assert schema == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "Place": {
                "type": "object",
                "title": "Place",
                "properties": {"street": {"type": "string"}},
                "required": ["street"],
            }
        },
        "type": "object",
        "description": "What is looked for.",
        "additionalProperties": False,
        "properties": {
            "since": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
            "before": {"type": "integer", "default": 9},
            "place": {"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}], "default": None},
        },
        **CONDITION,
    }


def test_arguments_are_what_the_model_makes_of_them() -> None:
    bound = parameters().bind({"before": 5, "place": {"street": "a"}})
    assert bound == {"since": None, "until": 5, "place": Place(street="a")}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"since": 10}, "since is behind before"),
        ({"before": "x"}, "before: "),
        ({"limit": 4}, "limit: unknown field"),
    ],
)
def test_the_model_checks_arguments(arguments: object, text: str) -> None:
    with pytest.raises(InvalidArguments, match=text):
        parameters().bind(arguments)


def only_since(since: int) -> None: ...


def one_more(since: int, until: int, place: Place, limit: int) -> None: ...


def injected_as_well(since: int, until: int, place: Injected) -> None: ...


def rooted(root: dict[str, int]) -> None: ...


@pytest.mark.parametrize(
    ("function", "model", "text"),
    [
        (only_since, Search, "no parameter for until, place of its input_schema"),
        (one_more, Search, "input_schema has no field for limit"),
        (injected_as_well, Search, "no parameter for place of its input_schema"),
        (rooted, RootModel[dict[str, int]], "input_schema is a pydantic model with fields"),
        (rooted, {"type": "object"}, "input_schema is a pydantic model with fields"),
    ],
)
def test_a_model_that_does_not_fit_the_function_is_refused(function: Any, model: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        Parameters.of(signature_of(function), Injected, model)


def test_an_option_of_the_decorator_names_it() -> None:
    app = Receiver("a")

    class Arguments(BaseModel):
        name: str

    @app.tool(input_schema=Arguments)
    def greet(name: str) -> str:
        return name

    (tool,) = app.tools
    assert tool.input_schema == {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    assert tool.bind({"name": "a"}) == {"name": "a"}
