from collections.abc import Mapping
from enum import Enum, IntEnum
from itertools import count
from typing import Annotated, Any, Literal

import pytest

from receiver import Context, Receiver
from receiver.completion import render_values
from receiver.protocol.errors import ToolError


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Size(IntEnum):
    SMALL = 1


@pytest.fixture
def app() -> Receiver:
    made = Receiver("acme")

    @made.prompt
    async def greet(name: str, day: str = "") -> str:
        return name

    @made.resource("notes://{name}")
    async def note(name: str) -> str:
        return name

    return made


def test_it_takes_the_value_and_what_is_known_already(app: Receiver) -> None:
    @app.completion("greet", "name", timeout=2)
    def short(typed: str) -> list[str]:
        return [typed]

    @app.completion("notes://{name}", "name")
    async def long(value: str, others: Mapping[str, str], ctx: Context) -> list[str]:
        return [value]

    params = {"value": "a", "arguments": {"day": "b"}}
    first, second = app.completions.find("greet", "name"), app.completions.find("notes://{name}", "name")
    assert first is not None
    assert second is not None
    assert (first.bind(params), first.timeout_ms, first.is_async) == ({"typed": "a"}, 2000, False)
    assert second.bind(params) == {"value": "a", "others": {"day": "b"}}
    assert second.context_parameter == "ctx"
    assert app.find_operation("completion/complete", first.key) is first
    assert app.completions.find("greet", "day") is None


@pytest.mark.parametrize(
    ("ref", "argument", "complaint"),
    [
        ("nobody", "name", "^completion 'nobody name': there is no such prompt or template$"),
        (
            "greet",
            "other",
            "^completion 'greet other': there is no argument 'other' to complete; there are: name, day$",
        ),
        ("notes://7", "name", "there is no such prompt or template"),
    ],
)
def test_what_can_t_be_completed(app: Receiver, ref: str, argument: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        app.completion(ref, argument)(lambda value: [])
    assert len(app.completions) == 0


def test_an_argument_is_completed_once(app: Receiver) -> None:
    app.completion("greet", "name")(lambda value: [])
    with pytest.raises(ValueError, match="there is a completion 'greet name' already"):
        app.completion("greet", "name")(lambda value: [])


@pytest.mark.parametrize("function", [lambda: ["x"], lambda a, b, c: ["x"]])
def test_it_takes_one_or_two(app: Receiver, function: Any) -> None:
    with pytest.raises(TypeError, match="it takes a value"):
        app.completion("greet", "name")(function)


@pytest.mark.parametrize(
    ("count", "completion"),
    [
        (0, {"values": [], "total": 0, "hasMore": False}),
        (100, {"values": ["x"] * 100, "total": 100, "hasMore": False}),
        (101, {"values": ["x"] * 100, "total": 101, "hasMore": True}),
        (10_000, {"values": ["x"] * 100, "total": 10_000, "hasMore": True}),
        (10_001, {"values": ["x"] * 100, "hasMore": True}),
    ],
)
def test_a_hundred_values_go_out(count: int, completion: object) -> None:
    assert render_values(["x"] * count) == {"completion": completion}


def test_what_never_ends_is_not_counted(app: Receiver) -> None:
    app.completion("greet", "name")(lambda value: [])
    completion = app.completions.find("greet", "name")
    assert completion is not None
    assert "total" not in completion.render(str(number) for number in count())["completion"]
    for value in ("text", 1, None, [1], ["a", None]):
        with pytest.raises(ToolError, match="no list of strings"):
            completion.render(value)


@pytest.mark.parametrize(
    ("annotation", "choices"),
    [
        (Literal["a", "b"], ["a", "b"]),
        (Literal["a", "b"] | None, ["a", "b"]),
        (Annotated[Literal["a"], "note"] | Literal["b", 3], ["a", "b"]),
        (Color, ["red", "blue"]),
        (Literal[Color.BLUE], ["blue"]),
        (Size, []),
        (str, []),
        (bool, []),
    ],
)
def test_choices_are_what_an_annotation_lists(annotation: Any, choices: list[str]) -> None:
    app = Receiver("acme")

    def pick(one: annotation) -> str:
        return str(one)

    app.prompt(pick)
    (prompt,) = app.prompts
    assert prompt.parameters.choices("one") == choices
    assert app.completes == bool(choices)
