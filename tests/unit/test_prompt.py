from datetime import date
from typing import Any

import pytest
from mcp_types import GetPromptResult, PromptMessage, SamplingMessage, TextContent
from mcp_types import Prompt as WirePrompt
from pydantic import Field

from receiver.prompts.messages import result_of
from receiver.prompts.prompt import Prompt
from receiver.protocol.errors import InternalError, InvalidArguments, ToolError
from receiver.protocol.outcome import Outcome


class Context:
    pass


def review(
    book: str, day: date = date(2026, 1, 1), stars: int = Field(3, description="How good."), *, ctx: Context
) -> str:
    """Ask for a review."""
    return book


def prompt(**options: Any) -> Prompt:
    return Prompt.of(review, context=Context, **options)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": {"type": "text", "text": text}}


def test_a_function_says_what_a_prompt_is() -> None:
    made = prompt()
    assert (made.key, made.context_parameter, made.is_async, made.timeout_ms) == ("review", "ctx", False, None)
    assert made.definition() == {
        "name": "review",
        "description": "Ask for a review.",
        "arguments": [
            {"name": "book", "required": True},
            {"name": "day", "required": False},
            {"name": "stars", "description": "How good.", "required": False},
        ],
    }
    WirePrompt.model_validate(made.definition())


def test_what_the_author_wrote_is_shown() -> None:
    made = prompt(name="a.b", title="A", description="B", icons=[{"src": "https://acme.example/i"}], timeout=2)
    definition = made.definition()
    assert (definition["name"], definition["title"], definition["description"]) == ("a.b", "A", "B")
    assert definition["icons"] == [{"src": "https://acme.example/i"}]
    assert made.timeout_ms == 2000


def test_a_prompt_without_arguments_lists_none() -> None:
    assert "arguments" not in Prompt.of(lambda: "x", context=Context, name="x").definition()


def test_a_name_is_never_a_uri() -> None:
    for name in ("a:b", "a b", ""):
        with pytest.raises(ValueError, match="a prompt's name"):
            prompt(name=name)


def test_strings_become_what_the_function_takes() -> None:
    assert prompt().bind({"book": "7", "day": "2026-02-03", "stars": "5"}) == {
        "book": "7",
        "day": date(2026, 2, 3),
        "stars": 5,
    }
    assert prompt().bind({"book": "x"})["stars"] == 3


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "book: required"),
        ({"book": None}, "book: must be a string"),
        ({"book": "x", "stars": 5}, "stars: must be a string"),
        ({"book": "x", "more": 1}, "more: unknown field"),
        ([], "they must be an object"),
    ],
)
def test_what_does_not_fit(arguments: object, text: str) -> None:
    with pytest.raises(InvalidArguments, match=f"^Invalid arguments: {text}$"):
        prompt().bind(arguments)


def test_how_a_prompt_is_run() -> None:
    made = prompt()
    assert [made.queue_for(as_task=False), made.attempts_for(as_task=False, default=3)] == ["plain", 3]
    assert made.fail("no") == Outcome.of_error(InternalError("no"))
    error = InvalidArguments("bad")
    assert made.refuse(error, as_task=False) == Outcome.of_error(error)


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ("a", [user("a")]),
        ("\ud800", [user("?")]),
        (["a", {"role": "assistant", "content": "b"}], [user("a"), user("b") | {"role": "assistant"}]),
        ({"role": "user", "content": {"type": "text", "text": "a"}}, [user("a")]),
        ((PromptMessage(role="user", content=TextContent(type="text", text="a")),), [user("a")]),
        (SamplingMessage(role="user", content=TextContent(type="text", text="a")), [user("a")]),
        ([], []),
    ],
)
def test_messages(value: Any, messages: list[Any]) -> None:
    assert result_of(value, None) == {"messages": messages}
    assert result_of(value, "Why") == {"description": "Why", "messages": messages}


def test_a_whole_result_stays_what_it_is() -> None:
    message = PromptMessage(role="user", content=TextContent(type="text", text="a"))
    whole = GetPromptResult(messages=[message], _meta={"a": 1})
    assert result_of(whole, "Why") == {"description": "Why", "messages": [user("a")], "_meta": {"a": 1}}
    whole = GetPromptResult(messages=[], description="Mine")
    assert result_of(whole, "Why") == {"description": "Mine", "messages": []}


@pytest.mark.parametrize(
    "value",
    [
        None,
        1,
        b"a",
        {"role": "system", "content": "a"},
        {"role": "user"},
        {"role": "user", "content": {"type": "other"}},
        [["a"]],
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
    ],
)
def test_what_is_no_message(value: Any) -> None:
    with pytest.raises(ToolError, match=r"^The prompt returned something that is no message$"):
        result_of(value, None)
