import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, NoReturn

import orjson
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from mcp_types import CallToolResult, ContentBlock, ImageContent, TextContent
from pydantic import BaseModel, Field, RootModel
from typing_extensions import TypedDict

from receiver.protocol.errors import ToolError
from receiver.protocol.handshake import RELATED_TASK
from receiver.tools.returns import Returns


class Report(BaseModel):
    """What was found."""

    page_count: int = Field(alias="pageCount")
    parts: "list[Report]" = []


@dataclass
class Size:
    width: int


class Row(TypedDict):
    cells: list[str]


class Plain:
    pass


REPORT = Report(pageCount=1, parts=[Report(pageCount=2)])


@pytest.mark.parametrize(
    "annotation",
    [
        inspect.Signature.empty,
        None,
        str,
        Any,
        object,
        NoReturn,
        str | None,
        Annotated[str, Field(description="text")],
        CallToolResult,
        ContentBlock,
        TextContent,
        ImageContent | str,
        Report | CallToolResult,
        list[ContentBlock],
        Sequence[TextContent | str],
        tuple[TextContent, ImageContent],
    ],
)
def test_text_and_content_have_no_schema(annotation: Any) -> None:
    returns = Returns.of(annotation)
    assert returns.schema is None
    assert returns.render("done") == {"content": [{"type": "text", "text": "done"}], "isError": False}


@pytest.mark.parametrize(
    ("annotation", "value", "structured"),
    [
        (Report, REPORT, {"pageCount": 1, "parts": [{"pageCount": 2, "parts": []}]}),
        (Report, {"pageCount": 1}, {"pageCount": 1, "parts": []}),
        (Size, Size(1), {"width": 1}),
        (Row, {"cells": ["a"]}, {"cells": ["a"]}),
        (dict[str, date], {"a": date(2024, 2, 29)}, {"a": "2024-02-29"}),
        (dict, {"a": None}, {"a": None}),
        (RootModel[dict[str, int]], {"a": 1}, {"a": 1}),
        (int, 3, {"result": 3}),
        (bool, False, {"result": False}),
        (date, date(2024, 2, 29), {"result": "2024-02-29"}),
        (list[Size], [Size(1)], {"result": [{"width": 1}]}),
        (tuple[int, str], (1, "a"), {"result": [1, "a"]}),
        (Report | None, None, {"result": None}),
        (Report | None, Report(pageCount=1), {"result": {"pageCount": 1, "parts": []}}),
        (str | int, "a", {"result": "a"}),
        (RootModel[list[int]], [1], {"result": [1]}),
    ],
)
def test_a_typed_value_is_structured_and_repeated_as_text(annotation: Any, value: Any, structured: Any) -> None:
    returns = Returns.of(annotation)
    assert returns.schema is not None
    assert returns.schema["type"] == "object"
    Draft202012Validator.check_schema(returns.schema)
    result = returns.render(value)
    assert result == {"content": result["content"], "structuredContent": structured, "isError": False}
    assert [orjson.loads(content["text"]) for content in result["content"]] == [structured]
    Draft202012Validator(returns.schema).validate(result["structuredContent"])


def test_a_wrapped_schema_keeps_its_definitions_at_the_root() -> None:
    schema = Returns.of(list[Size]).schema
    assert schema is not None
    assert schema["properties"] == {"result": {"type": "array", "items": {"$ref": "#/$defs/Size"}}}
    assert schema["required"] == ["result"]
    assert list(schema["$defs"]) == ["Size"]


def test_bytes_are_refused_before_anyone_calls() -> None:
    with pytest.raises(TypeError, match="a tool can't return bytes"):
        Returns.of(bytes)


def test_a_type_without_a_schema_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Unable to generate pydantic-core schema for .*Plain"):
        Returns.of(Plain)


class Checked(BaseModel):
    secret: str = Field(pattern="^x$")


def changed() -> Report:
    report = Report(pageCount=1)
    report.page_count = "s3cret"  # type: ignore[assignment]
    return report


@pytest.mark.parametrize(
    ("annotation", "value", "text"),
    [
        (Report, {"parts": [{}]}, "does not fit its output schema at: pageCount, parts.0.pageCount"),
        (Report, "s3cret", "does not fit its output schema at: result"),
        (Report, TextContent(text="s3cret"), "does not fit its output schema at: result"),
        (Checked, {"secret": "s3cret"}, "does not fit its output schema at: secret"),
        (int, "s3cret", "does not fit its output schema at: result"),
        (Report, changed(), "can't be written as JSON"),
        (float, math.nan, "NaN or Infinity"),
        (dict[str, Any], {"a": [math.inf]}, "NaN or Infinity"),
    ],
)
def test_a_value_that_breaks_the_schema_is_the_tools_fault(annotation: Any, value: Any, text: str) -> None:
    with pytest.raises(ToolError, match=text) as refused:
        Returns.of(annotation).render(value)
    assert "s3cret" not in str(refused.value)


def test_a_result_of_the_authors_own_goes_through() -> None:
    given = CallToolResult(
        content=[TextContent(text="a")],
        structured_content={"n": None},
        is_error=True,
        _meta={"mine": {"k": None}, RELATED_TASK: {"taskId": "another"}},
    )
    assert Returns.of(CallToolResult).render(given) == {
        "content": [{"type": "text", "text": "a"}],
        "structuredContent": {"n": None},
        "isError": True,
        "_meta": {"mine": {"k": None}},
    }


def test_a_result_names_no_task_and_no_result_type() -> None:
    given = CallToolResult(content=[], _meta={RELATED_TASK: {"taskId": "another"}})
    assert Returns.of(CallToolResult).render(given) == {"content": [], "isError": False}


def test_structured_content_without_content_is_repeated_as_text() -> None:
    given = CallToolResult(content=[], structured_content={"n": 1})
    assert Returns.of(Any).render(given)["content"] == [{"type": "text", "text": '{"n":1}'}]


@pytest.mark.parametrize("structured", [[1], "a", 3])
def test_structured_content_is_an_object(structured: Any) -> None:
    with pytest.raises(ToolError, match="structured content that is not an object"):
        Returns.of(Any).render(CallToolResult(content=[], structured_content=structured))


@pytest.mark.parametrize(("annotation", "structured"), [(Size, {"width": 1}), (date, {"result": "2024-02-29"})])
def test_a_result_that_keeps_the_schemas_promise_goes_through(annotation: Any, structured: Any) -> None:
    given = CallToolResult(content=[], structured_content=structured)
    assert Returns.of(annotation).render(given)["structuredContent"] == structured


@pytest.mark.parametrize(
    ("annotation", "structured", "text"),
    [
        (Size, None, "lacks the structured content"),
        (int | None, {}, "lacks the structured content"),
        (Size, {"width": "wide"}, "does not fit its output schema at: width"),
    ],
)
def test_a_result_that_breaks_the_schemas_promise_is_refused(annotation: Any, structured: Any, text: str) -> None:
    with pytest.raises(ToolError, match=text):
        Returns.of(annotation).render(CallToolResult(content=[], structured_content=structured))


def test_an_error_needs_no_structured_content() -> None:
    given = CallToolResult(content=[TextContent(text="no")], is_error=True)
    assert Returns.of(Size).render(given) == {"content": [{"type": "text", "text": "no"}], "isError": True}
