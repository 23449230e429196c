import functools
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from pydantic import AfterValidator, BaseModel, Field

from receiver.protocol.errors import InvalidArguments
from receiver.tools.schema import Parameters, signature_of


class Injected:
    pass


class Page(BaseModel):
    """One page."""

    size: int
    within: "Page | None" = None


def parameters_of(function: Callable[..., Any]) -> Parameters:
    parameters = Parameters.of(signature_of(function), Injected)
    Draft202012Validator.check_schema(parameters.schema)
    return parameters


def refusal(parameters: Parameters, arguments: object) -> str:
    with pytest.raises(InvalidArguments) as refused:
        parameters.bind(arguments)
    assert refused.value.code == -32602
    return refused.value.message


def test_the_schema_says_what_the_signature_says() -> None:
    def render(  # type: ignore[no-untyped-def]
        quarter: Annotated[str, Field(description="like 2024Q1", min_length=6)],
        pages: int = 10,
        *,
        style: Literal["plain", "fine"] = "plain",
        factor: float = Field(1.0, gt=0),
        anything=None,
    ) -> None: ...

    assert parameters_of(render).schema == {
        "type": "object",
        "additionalProperties": False,
        "required": ["quarter"],
        "properties": {
            "quarter": {"type": "string", "description": "like 2024Q1", "minLength": 6},
            "pages": {"type": "integer", "default": 10},
            "style": {"type": "string", "enum": ["plain", "fine"], "default": "plain"},
            "factor": {"type": "number", "exclusiveMinimum": 0, "default": 1.0},
            "anything": {"default": None},
        },
    }


def test_a_function_without_parameters_has_an_object_schema() -> None:
    schema = parameters_of(lambda: None).schema
    assert schema == {"type": "object", "properties": {}, "additionalProperties": False}


def test_models_become_definitions_and_are_bound_as_models() -> None:
    def measure(page: Page) -> None: ...

    parameters = parameters_of(measure)
    assert parameters.schema["properties"]["page"] == {"$ref": "#/$defs/Page"}
    assert parameters.schema["$defs"]["Page"]["description"] == "One page."
    assert parameters.bind({"page": {"size": 1, "within": {"size": 2}}}) == {"page": Page(size=1, within=Page(size=2))}


def test_any_name_may_be_a_parameter() -> None:
    def odd(copy: int, model_dump: int, _hidden: int, schema: int, argument_copy: int, self: int) -> None: ...

    arguments = dict.fromkeys(["copy", "model_dump", "_hidden", "schema", "argument_copy", "self"], 1)
    parameters = parameters_of(odd)
    assert list(parameters.schema["properties"]) == list(arguments)
    assert parameters.bind(arguments) == arguments


def test_an_alias_is_the_name_on_the_wire() -> None:
    def render(page_count: Annotated[int, Field(alias="pageCount")]) -> None: ...

    parameters = parameters_of(render)
    assert list(parameters.schema["properties"]) == ["pageCount"]
    assert parameters.bind({"pageCount": 3}) == {"page_count": 3}
    assert refusal(parameters, {"page_count": 3}) == "Invalid arguments: pageCount: required; page_count: unknown field"


def test_annotations_may_be_strings() -> None:
    def render(day: "date") -> None: ...

    assert parameters_of(render).schema["properties"]["day"] == {"type": "string", "format": "date"}


@pytest.mark.parametrize("annotation", [Injected, Injected | None, Annotated[Injected, "note"]])
def test_the_injected_parameter_is_not_the_callers(annotation: Any) -> None:
    def render(pages: list[int], context: Any) -> None: ...

    render.__annotations__["context"] = annotation
    parameters = parameters_of(render)
    assert parameters.injected == "context"
    assert list(parameters.schema["properties"]) == ["pages"]
    assert parameters.bind({"pages": [1]}) == {"pages": [1]}
    assert "context: unknown field" in refusal(parameters, {"pages": [1], "context": {}})


def test_a_subclass_of_the_injected_class_is_injected() -> None:
    class Special(Injected):
        pass

    def render(context: Special) -> None: ...

    assert parameters_of(render).injected == "context"


def test_two_injected_parameters_are_refused() -> None:
    def render(one: Injected, two: Injected) -> None: ...

    with pytest.raises(TypeError, match="more than one parameter is a Injected: one, two"):
        parameters_of(render)


def positional(x: int, /) -> None: ...


def star(*values: int) -> None: ...


def stars(**values: int) -> None: ...


@pytest.mark.parametrize("function", [positional, star, stars])
def test_a_parameter_that_has_no_name_for_callers_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match="can't be passed by name"):
        parameters_of(function)


class Odd:
    pass


def take_odd(value: Odd) -> None: ...


def take_callable(value: Callable[[], int]) -> None: ...


@pytest.mark.parametrize("function", [take_odd, take_callable])
def test_an_annotation_without_a_schema_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match=r"generate .*[sS]chema for .*(Odd|Callable)"):
        parameters_of(function)


def test_an_unknown_annotation_is_refused() -> None:
    def render(value: "Missing") -> None: ...  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(TypeError, match="an annotation can't be resolved: name 'Missing' is not defined"):
        signature_of(render)


def test_a_callable_without_a_signature_is_refused() -> None:
    with pytest.raises(TypeError, match="no signature found"):
        signature_of(max)


def test_absent_arguments_are_an_empty_object() -> None:
    def render(pages: int = 10) -> None: ...

    assert parameters_of(render).bind(None) == {"pages": 10}


def test_a_mutable_default_is_not_shared_between_calls() -> None:
    def collect(into: list[int] = []) -> None: ...  # noqa: B006

    parameters = parameters_of(collect)
    parameters.bind({})["into"].append(1)
    assert parameters.bind({}) == {"into": []}


def test_a_default_that_json_lacks_is_left_out_of_the_schema() -> None:
    default = Page(size=1)

    def render(opaque: Any = Injected, page: Page = default) -> None: ...

    parameters = parameters_of(render)
    assert parameters.schema["properties"]["opaque"] == {}
    assert parameters.schema["properties"]["page"]["default"] == {"size": 1, "within": None}
    assert parameters.bind({}) == {"opaque": Injected, "page": default}


def test_values_are_read_as_json_even_in_strict_fields() -> None:
    def render(
        day: Annotated[date, Field(strict=True)], sizes: Annotated[tuple[int, ...], Field(strict=True)]
    ) -> None: ...

    bound = parameters_of(render).bind({"day": "2024-02-29", "sizes": [1, 2]})
    assert bound == {"day": date(2024, 2, 29), "sizes": (1, 2)}


def test_a_whole_float_is_an_integer_and_a_fraction_is_not() -> None:
    def render(pages: int) -> None: ...

    parameters = parameters_of(render)
    assert parameters.bind({"pages": 3.0}) == {"pages": 3}
    assert refusal(parameters, {"pages": 3.5}).startswith("Invalid arguments: pages: ")


@pytest.mark.parametrize("arguments", [[], "x", 3, True, [["pages", 1]]])
def test_arguments_that_are_no_object_are_refused(arguments: object) -> None:
    assert refusal(parameters_of(lambda: None), arguments) == "Invalid arguments: they must be an object"


def test_arguments_that_are_no_json_are_refused() -> None:
    assert refusal(parameters_of(lambda: None), {"x": "\ud800"}) == "Invalid arguments: they must be JSON"


def test_each_bad_field_is_named_and_no_value_is_told() -> None:
    def render(quarter: str, rows: list[Page], pages: int = 1) -> None: ...

    text = refusal(
        parameters_of(render), {"rows": [{"size": 1}, {"size": "secret"}], "pages": "secret", "extra": "secret"}
    )
    assert [part.partition(": ")[0] for part in text.removeprefix("Invalid arguments: ").split("; ")] == [
        "quarter",
        "rows.1.size",
        "pages",
        "extra",
    ]
    assert "secret" not in text


def test_a_validator_of_the_author_speaks_for_itself() -> None:
    def check(quarter: str) -> str:
        raise ValueError("a quarter is like 2024Q1")

    def render(quarter: Annotated[str, AfterValidator(check)]) -> None: ...

    text = refusal(parameters_of(render), {"quarter": "x"})
    assert text == "Invalid arguments: quarter: a quarter is like 2024Q1"


def test_the_text_stays_short_however_much_is_wrong() -> None:
    text = refusal(parameters_of(lambda: None), {f"{'x' * 500}{number}": 1 for number in range(1000)})
    assert text.endswith("; and 980 more")
    assert len(text) < 3000


def test_a_partial_binds_what_its_author_left_open() -> None:
    def render(secret: str, pages: int) -> None: ...

    assert list(parameters_of(functools.partial(render, "hidden")).schema["properties"]) == ["pages"]
