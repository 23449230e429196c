import inspect
from typing import Any

import pytest
from mcp_types import Annotations, BlobResourceContents, Icon, TextResourceContents
from mcp_types import Resource as WireResource
from mcp_types import ResourceTemplate as WireTemplate
from pydantic import BaseModel

from receiver.protocol.errors import ResourceNotFound, ToolError
from receiver.resources.contents import contents_of
from receiver.resources.registry import Resources
from receiver.resources.resource import Resource, ResourceOptions


class Context:
    pass


def page(number: int, *, ctx: Context) -> str:
    """A page.

    One of many.
    """
    return str(number)


def resource(uri: str = "book://{number}", function: Any = page, **options: Any) -> Resource:
    return Resource.of(function, uri, context=Context, **options)


def fixed(uri: str, **options: Any) -> Resource:
    return resource(uri, lambda: "text", name="fixed", **options)


# What an author writes


def test_a_function_says_what_a_template_is() -> None:
    made = resource()
    assert (made.key, made.name, made.is_template, made.timeout_ms) == ("book://{number}", "page", True, None)
    assert (made.context_parameter, made.is_async, made.function) == ("ctx", False, page)
    written = {"uriTemplate": "book://{number}", "name": "page", "description": "A page.\n\nOne of many."}
    assert made.definition() == written
    WireTemplate.model_validate(written)


def test_what_the_author_wrote_is_shown() -> None:
    made = fixed(
        "book://all",
        title="All",
        description="Every page.",
        mime_type="text/plain",
        size=0,
        annotations=Annotations(audience=["user"], priority=1.0),
        icons=[Icon(src="data:image/png;base64,AA==", mime_type="image/png")],
        timeout="2m",
    )
    assert made.timeout_ms == 120_000
    assert made.definition() == {
        "uri": "book://all",
        "name": "fixed",
        "title": "All",
        "description": "Every page.",
        "mimeType": "text/plain",
        "size": 0,
        "annotations": {"audience": ["user"], "priority": 1.0},
        "icons": [{"src": "data:image/png;base64,AA==", "mimeType": "image/png"}],
    }
    WireResource.model_validate(made.definition())


def test_the_options_are_those_of_the_receiver() -> None:
    taken = [name for name, it in inspect.signature(Resource.of).parameters.items() if it.kind == it.KEYWORD_ONLY]
    assert taken == ["context", *ResourceOptions.__annotations__]


@pytest.mark.parametrize(
    ("uri", "options", "complaint"),
    [
        ("book://all", {}, "the parameters of its URI are none, those of its function number"),
        ("book://{page}", {}, "the parameters of its URI are page, those of its function number"),
        ("book://{number}", {"size": 3}, "no common size"),
        ("book://{number}", {"timeout": 0}, "not a duration"),
        ("book://{number}", {"annotations": {"readOnlyHint": True}}, "unknown annotation 'readOnlyHint'"),
        ("book://{number}", {"annotations": {"priority": 2}}, "annotation priority: "),
        ("book://{number}", {"icons": [{"url": "https://acme.example"}]}, "an icon has no 'url'"),
        ("book://{number}", {"icons": [{"mimeType": "image/png"}]}, "icon: src: "),
        ("book://{number}", {"icons": [{"src": "javascript:alert(1)"}]}, "an icon's src is"),
    ],
)
def test_what_can_t_be_a_resource(uri: str, options: Any, complaint: str) -> None:
    with pytest.raises((TypeError, ValueError), match=complaint):
        resource(uri, **options)


# Finding


def test_exact_ones_come_first_and_templates_in_order() -> None:
    resources = Resources()
    words = resource("book://{word}", lambda word: word, name="words")
    numbers, first = resource(), fixed("book://one")
    for one in (numbers, words, first):
        resources.add(one)
    assert list(resources) == [numbers, words, first]
    assert (resources.fixed, resources.templates) == ([first], [numbers, words])
    assert resources.find("book://one") == (first, {})
    assert resources.find("book://7") == (numbers, {"number": 7})
    assert resources.find("book://seven") == (words, {"word": "seven"})
    for uri in ("book://", "book://7/8", "book://{number}", "", "book"):
        assert resources.find(uri) is None


def test_a_uri_is_given_once() -> None:
    resources = Resources()
    resources.add(resource())
    with pytest.raises(ValueError, match=r"there is a resource 'book://\{number\}' already"):
        resources.add(resource())


def test_what_is_read_is_bound_from_its_uri() -> None:
    assert resource().bind({"uri": "book://7"}) == {"number": 7}
    for uri in ("book://seven", "shelf://7"):
        with pytest.raises(ResourceNotFound) as refused:
            resource().bind({"uri": uri})
        assert refused.value.to_json() == {"code": -32002, "message": "Resource not found", "data": {"uri": uri}}


# Contents


class Model(BaseModel):
    pages: int


@pytest.mark.parametrize(
    ("value", "mime_type", "content"),
    [
        ("text", None, {"text": "text"}),
        ("text", "text/markdown", {"mimeType": "text/markdown", "text": "text"}),
        ("", None, {"text": ""}),
        ("\ud800", None, {"text": "?"}),
        (b"\xff\xfe", None, {"blob": "//4="}),
        (bytearray(b"a"), "image/png", {"mimeType": "image/png", "blob": "YQ=="}),
        (memoryview(b"a"), None, {"blob": "YQ=="}),
        ({"a": 1}, None, {"mimeType": "application/json", "text": '{"a":1}'}),
        ([1, 2], None, {"mimeType": "application/json", "text": "[1,2]"}),
        ([], None, {"mimeType": "application/json", "text": "[]"}),
        (1.5, "text/plain", {"mimeType": "text/plain", "text": "1.5"}),
        ([Model(pages=1)], None, {"mimeType": "application/json", "text": '[{"pages":1}]'}),
    ],
)
def test_a_value_is_one_content(value: Any, mime_type: str | None, content: dict[str, Any]) -> None:
    assert contents_of(value, "a:b", mime_type) == [{"uri": "a:b", **content}]


def test_contents_stay_what_they_are() -> None:
    text = TextResourceContents(uri="", text="a", _meta={"b": 1})
    blob = BlobResourceContents(uri="c:d", mime_type="image/png", blob="AAAA")
    assert contents_of(text, "a:b", "text/plain") == [{"uri": "a:b", "text": "a", "_meta": {"b": 1}}]
    assert contents_of([text, blob, "more"], "a:b", None) == [
        {"uri": "a:b", "text": "a", "_meta": {"b": 1}},
        {"uri": "c:d", "mimeType": "image/png", "blob": "AAAA"},
        {"uri": "a:b", "text": "more"},
    ]


@pytest.mark.parametrize("value", [None, object(), {"a": {1: object()}}, float("nan")])
def test_what_can_t_be_read(value: Any) -> None:
    with pytest.raises(ToolError, match=r"^The resource returned"):
        contents_of(value, "a:b", None)
