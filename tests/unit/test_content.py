import math
from dataclasses import dataclass
from datetime import date
from typing import Any

import orjson
import pytest
from mcp_types import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel, field_serializer

from receiver.protocol.errors import ToolError
from receiver.tools.content import content_of, error_result, text_block, to_json


class Point(BaseModel):
    x: float
    y: Any = None


@dataclass
class Pair:
    left: Any
    right: Any


def test_a_string_is_text() -> None:
    assert content_of("naïve ☃") == [{"type": "text", "text": "naïve ☃"}]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (0.5, "0.5"),
        (True, "true"),
        (None, "null"),
        ([], "[]"),
        ([1, "a", None], '[1,"a",null]'),
        ({"b": 1, "a": {"c": [None]}}, '{"b":1,"a":{"c":[null]}}'),
        ({1: date(2024, 2, 29)}, '{"1":"2024-02-29"}'),
        (Point(x=1), '{"x":1.0,"y":null}'),
        (Pair(1, Point(x=2, y=[3])), '{"left":1,"right":{"x":2.0,"y":[3]}}'),
        ({"content": [], "isError": True}, '{"content":[],"isError":true}'),
    ],
)
def test_any_other_value_is_json_text(value: Any, text: str) -> None:
    assert content_of(value) == [{"type": "text", "text": text}]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (TextContent(text="a"), {"type": "text", "text": "a"}),
        (
            ImageContent(data="AA==", mime_type="image/png", _meta={"k": None}),
            {"type": "image", "data": "AA==", "mimeType": "image/png", "_meta": {"k": None}},
        ),
        (
            AudioContent(data="AA==", mime_type="audio/wav"),
            {"type": "audio", "data": "AA==", "mimeType": "audio/wav"},
        ),
        (
            ResourceLink(name="r", uri="file:///r", mime_type="text/plain"),
            {"type": "resource_link", "name": "r", "uri": "file:///r", "mimeType": "text/plain"},
        ),
        (
            EmbeddedResource(resource=TextResourceContents(uri="file:///r", text="t")),
            {"type": "resource", "resource": {"uri": "file:///r", "text": "t"}},
        ),
    ],
)
def test_a_content_block_stays_what_it_is(block: Any, expected: dict[str, Any]) -> None:
    assert content_of(block) == [expected]


def test_a_list_with_a_block_in_it_is_a_list_of_contents() -> None:
    contents = content_of(("see", TextContent(text="a"), {"n": 1}))
    assert [content["text"] for content in contents] == ["see", "a", '{"n":1}']


def test_lone_surrogates_become_question_marks() -> None:
    assert text_block("caf\udce9") == {"type": "text", "text": "caf?"}


@pytest.mark.parametrize("value", [b"x", bytearray(b"x"), memoryview(b"x"), [TextContent(text="a"), b"x"]])
def test_bytes_are_refused(value: Any) -> None:
    with pytest.raises(ToolError, match="The tool returned bytes"):
        content_of(value)


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        -math.inf,
        [1, math.nan],
        {"a": {"b": (math.inf,)}},
        Point(x=math.nan),
        Point(x=1, y=[math.inf]),
        Pair({"deep": Point(x=1, y={math.nan})}, None),
    ],
)
def test_numbers_that_json_lacks_are_refused(value: Any) -> None:
    with pytest.raises(ToolError, match="NaN or Infinity"):
        content_of(value)


class Secretive(BaseModel):
    key: str

    @field_serializer("key")
    def write(self, key: str) -> str:
        raise RuntimeError(f"no rights for {key}")


@pytest.mark.parametrize(
    "value",
    [
        object(),
        {"a": object()},
        2**64,
        {"a": "\ud800"},
        {"a": b"\xff"},
        Secretive(key="s3cret"),
        TextContent(text="a", _meta={"k": object()}),
    ],
)
def test_what_json_cannot_express_is_refused_without_telling_it(value: Any) -> None:
    with pytest.raises(ToolError, match=r"^The tool returned a value that can't be written as JSON$") as refused:
        content_of(value)
    assert refused.value.__cause__ is not None


def test_a_value_that_refers_to_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(ToolError, match="can't be written as JSON"):
        content_of(value)


def test_value_and_text_are_the_same_json() -> None:
    value, text = to_json({"a": (1, Point(x=2))})
    assert value == orjson.loads(text) == {"a": [1, {"x": 2.0, "y": None}]}


def test_an_error_result_says_what_went_wrong() -> None:
    assert error_result("no such folder") == {
        "content": [{"type": "text", "text": "no such folder"}],
        "isError": True,
    }
