"""Prompts and the completion of arguments, through any node."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.apps.library import ICON, WORDS
from tests.processes import Valkey
from tests.wire.client import Client
from tests.wire.conftest import Site, deploy

INVALID_PARAMS = -32602
REVIEW = {"type": "ref/prompt", "name": "review"}
DIALOG = {"type": "ref/prompt", "name": "dialog"}
BOOK = {"type": "ref/resource", "uri": "library://books/{number}"}


@pytest.fixture(scope="module")
def site(valkey: Valkey) -> Iterator[Site]:
    with deploy(valkey, app="tests.apps.library:app", namespace="prompts", workers=1) as site:
        yield site


@pytest.fixture
async def reader(alice: Client) -> Client:
    """A client with a session."""
    await alice.open()
    return alice


async def get(client: Client, name: str, node: int = 0, **arguments: object) -> Any:
    """The result of a prompt."""
    return await client.result("prompts/get", {"name": name, "arguments": arguments}, node)


async def complete(client: Client, ref: object, name: str, value: str, **params: object) -> Any:
    """What completes an argument."""
    params = {"ref": ref, "argument": {"name": name, "value": value}, **params}
    return (await client.result("completion/complete", params, 1))["completion"]


async def test_what_is_declared(alice: Client) -> None:
    capabilities = (await alice.open())["capabilities"]
    assert (capabilities["prompts"], capabilities["completions"]) == ({"listChanged": True}, {})


async def test_the_list(reader: Client) -> None:
    listed = (await reader.result("prompts/list", node=1))["prompts"]
    assert listed[0] == {
        "name": "review",
        "title": "Review",
        "description": "Ask for a review.",
        "arguments": [
            {"name": "book", "description": "Which book.", "required": True},
            {"name": "stars", "required": False},
            {"name": "tone", "required": False},
            {"name": "color", "required": False},
        ],
        "icons": [ICON],
    }
    assert [prompt["name"] for prompt in listed] == ["review", "dialog", "gated.prompt", "broken_prompt"]


@pytest.mark.parametrize("node", [0, 1])
async def test_a_text_is_a_message_of_the_user(reader: Client, node: int) -> None:
    """Its arguments are strings, converted to what the function takes."""
    text = "Review One, 4 stars, kind, rose"
    assert await get(reader, "review", node, book="One", stars="4", color="rose") == {
        "description": "Ask for a review.",
        "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
    }


async def test_messages_of_every_kind(reader: Client) -> None:
    assert (await get(reader, "dialog", topic="Shelves"))["messages"] == [
        {"role": "user", "content": {"type": "text", "text": "Shelves"}},
        {"role": "assistant", "content": {"type": "text", "text": "Which one?"}},
        {"role": "user", "content": {"type": "image", "data": "AAAA", "mimeType": "image/png"}},
        {
            "role": "user",
            "content": {"type": "resource_link", "name": "hours", "title": "Hours", "uri": "library://hours"},
        },
        {"role": "assistant", "content": {"type": "text", "text": "This one"}},
    ]


async def test_links_become_text_for_those_who_know_none(alice: Client) -> None:
    await alice.open(version="2025-03-26")
    messages = (await get(alice, "dialog", topic="Shelves"))["messages"]
    assert messages[3] == {"role": "user", "content": {"type": "text", "text": "Hours: library://hours"}}
    assert len(messages) == 5
    listed = (await alice.result("prompts/list"))["prompts"][0]
    assert not {"icons", "title"} & listed.keys()
    assert listed["arguments"]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"name": "review"}, "Invalid arguments: book: required"),
        ({"name": "review", "arguments": {"book": "x", "other": "y"}}, "Invalid arguments: other: unknown field"),
        ({"name": "review", "arguments": {"book": 1}}, "Invalid arguments: book: must be a string"),
        ({"name": "review", "arguments": []}, "Invalid arguments: they must be an object"),
        (
            {"name": "review", "arguments": {"book": "x", "stars": "nine"}},
            "Invalid arguments: stars: Input should be a valid integer, unable to parse string as an integer",
        ),
        ({"name": "nowhere"}, "Unknown prompt: nowhere"),
        ({"name": None}, "Unknown prompt: None"),
        ({}, "Unknown prompt: None"),
    ],
)
async def test_what_is_refused(reader: Client, params: object, message: str) -> None:
    for node in (0, 1):
        assert await reader.error("prompts/get", params, node) == {"code": INVALID_PARAMS, "message": message}


async def test_what_is_no_message(reader: Client) -> None:
    error = await reader.error("prompts/get", {"name": "broken_prompt"})
    assert error == {"code": -32603, "message": "The prompt returned something that is no message"}


# Completion


@pytest.mark.parametrize(
    ("argument", "value", "values"),
    [
        ("tone", "k", ["kind", "keen"]),
        ("tone", "", ["kind", "keen", "harsh"]),
        ("tone", "K", []),
        ("color", "ro", ["rose"]),
        ("book", "O", []),
    ],
)
async def test_choices_complete_by_themselves(reader: Client, argument: str, value: str, values: list[str]) -> None:
    completion = await complete(reader, REVIEW, argument, value)
    assert completion == {"values": values, "total": len(values), "hasMore": False}


async def test_a_function_completes(reader: Client) -> None:
    """A hundred values at most go out."""
    completion = await complete(reader, DIALOG, "topic", "word")
    assert completion == {"values": WORDS[:100], "total": 250, "hasMore": True}
    completion = await complete(reader, DIALOG, "topic", "word 00")
    assert completion == {"values": WORDS[:10], "total": 10, "hasMore": False}


async def test_a_function_knows_the_other_arguments(reader: Client) -> None:
    context = {"arguments": {"shelf": "A"}}
    completion = await complete(reader, BOOK, "number", "1", context=context)
    assert completion["values"] == ["1", "shelf=A", "alice"]
    assert (await complete(reader, BOOK, "number", "1"))["values"] == ["1", "alice"]


ARGUMENT = {"name": "topic", "value": ""}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"ref": DIALOG, "argument": {"name": "other", "value": ""}}, "Unknown argument: other"),
        ({"ref": DIALOG, "argument": {"name": ["topic"], "value": ""}}, "Unknown argument: ['topic']"),
        ({"ref": DIALOG | {"name": "nowhere"}, "argument": ARGUMENT}, "Unknown prompt: nowhere"),
        ({"ref": BOOK | {"uri": "library://nowhere"}, "argument": ARGUMENT}, "Unknown resource: library://nowhere"),
        ({"ref": BOOK | {"uri": "library://hours"}, "argument": ARGUMENT}, "Unknown argument: topic"),
        (
            {"ref": {"type": "ref/tool"}, "argument": ARGUMENT},
            "params.ref.type must be one of ref/prompt, ref/resource",
        ),
        ({"ref": {}, "argument": ARGUMENT}, "params.ref.type must be one of ref/prompt, ref/resource"),
        ({"ref": "dialog", "argument": ARGUMENT}, "params.ref must be an object"),
        ({"ref": DIALOG}, "params.argument must be an object"),
        ({"ref": DIALOG, "argument": {"name": "topic"}}, "params.argument.value must be a string"),
        ({"ref": DIALOG, "argument": ARGUMENT, "context": []}, "params.context must be an object"),
        (
            {"ref": DIALOG, "argument": ARGUMENT, "context": {"arguments": {"a": 1}}},
            "params.context.arguments must be an object of strings",
        ),
    ],
)
async def test_what_can_t_be_completed(reader: Client, params: object, message: str) -> None:
    error = await reader.error("completion/complete", params)
    assert error == {"code": INVALID_PARAMS, "message": message}


async def test_what_is_no_list(reader: Client) -> None:
    ref = {"type": "ref/resource", "uri": "library://files/{+path}"}
    params = {"ref": ref, "argument": {"name": "path", "value": "x"}}
    error = await reader.error("completion/complete", params)
    assert error == {"code": -32603, "message": "The completion returned something that is no list of strings"}
