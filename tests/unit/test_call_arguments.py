"""The words of ``receiver call``, typed by an input schema."""

from typing import Any

import pytest

from ops.calling.arguments import describe_arguments, missing_arguments, read_arguments

SCHEMA: dict[str, Any] = {
    "type": "object",
    "$defs": {"Colour": {"enum": ["red", "blue"]}, "Loop": {"$ref": "#/$defs/Loop"}},
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "on": {"type": "boolean"},
        "names": {"type": "array", "items": {"type": "string"}},
        "sizes": {"type": "array", "items": {"type": "integer"}},
        "options": {"type": "object"},
        "colour": {"$ref": "#/$defs/Colour"},
        "level": {"enum": [1, 2, "high"]},
        "fixed": {"const": 5},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "either": {"type": ["string", "integer"]},
        "loop": {"$ref": "#/$defs/Loop"},
        "lost": {"$ref": "#/$defs/Nothing"},
    },
    "required": ["text", "count"],
}


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("text=1", "1"),
        ("text=", ""),
        ("text=a=b", "a=b"),
        ("count=-3", -3),
        ("ratio=2", 2),
        ("ratio=2.5", 2.5),
        ("on=yes", True),
        ("on=False", False),
        ("names=a", ["a"]),
        ('names=["a", "b"]', ["a", "b"]),
        ("sizes=1", [1]),
        ('options={"a": 1}', {"a": 1}),
        ("colour=red", "red"),
        ("level=2", 2),
        ("level=high", "high"),
        ("fixed=5", 5),
        ("maybe=3", 3),
        ("maybe=null", None),
        ("either=3", 3),
        ("either=three", "three"),
        ("unknown=3", 3),
        ("unknown=three", "three"),
        ("loop=3", 3),
        ("lost=three", "three"),
        ("count:=[1]", [1]),
        ('text:="a"', "a"),
    ],
)
def test_a_word_means_what_its_schema_says(word: str, value: object) -> None:
    found = read_arguments([word], {}, SCHEMA)
    assert found == {word.partition("=")[0].rstrip(":"): value}
    assert [type(it) for it in found.values()] == [type(value)]


@pytest.mark.parametrize(
    ("word", "fault"),
    [
        ("count=many", "count: must be an integer, not 'many'"),
        ("count=1.5", "count: must be an integer"),
        ("count=true", "count: must be an integer"),
        ("on=maybe", "on: must be true or false, not 'maybe'"),
        ("options=[1]", "options: must be an object"),
        ("colour=green", "colour: must be one of red, blue"),
        ("sizes=one", "sizes: must be an integer"),
        ("sizes=[", "sizes: must be an array"),
        ("text", "'text' is neither"),
        ("=1", "'=1' is neither"),
        ("text:={", "text is no JSON"),
    ],
)
def test_a_word_that_does_not_fit(word: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault.replace("[", r"\[")):
        read_arguments([word], {}, SCHEMA)


def test_words_go_over_what_was_given() -> None:
    assert read_arguments(["count=2"], {"count": 1, "text": "a"}, SCHEMA) == {"count": 2, "text": "a"}


def test_a_list_may_be_named_several_times() -> None:
    assert read_arguments(["sizes=1", "sizes=2"], {}, SCHEMA) == {"sizes": [1, 2]}
    with pytest.raises(ValueError, match="text is given 2 times"):
        read_arguments(["text=a", "text=b"], {}, SCHEMA)


def test_what_is_missing_and_what_there_is() -> None:
    assert missing_arguments({"text": "a"}, SCHEMA) == ["count"]
    described = list(describe_arguments(SCHEMA))
    assert described[:3] == ["text=string", "count=integer", "[ratio=number]"]
    assert "[maybe=integer|null]" in described


@pytest.mark.parametrize("schema", [{}, {"properties": {"a": True}}, {"properties": {"a": {"anyOf": []}}}])
def test_schemas_that_say_little(schema: dict[str, Any]) -> None:
    assert read_arguments(["a=1"], {}, schema) == {"a": 1}
