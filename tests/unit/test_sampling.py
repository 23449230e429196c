from typing import Any

import pytest
from mcp import types

from receiver.protocol.errors import InvalidAnswer
from receiver.protocol.sampling import check_sampled, check_sampling, needed_capabilities

TEXT = {"type": "text", "text": "Hello"}
USE_A = {"type": "tool_use", "id": "a", "name": "weather", "input": {}}
USE_B = USE_A | {"id": "b"}
RESULT_A = {"type": "tool_result", "toolUseId": "a", "content": [TEXT]}
RESULT_B = RESULT_A | {"toolUseId": "b"}
PAIRED = "^behind a message that uses tools comes one with the result of each use, and nowhere else$"
ALONE = "^a message with tool results is the user's, and holds nothing else$"


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def params(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"messages": list(messages), "maxTokens": 100, **more}


CONVERSATIONS = [
    params({"role": "user", "content": TEXT}),
    params(user(TEXT), assistant(TEXT), user(TEXT, TEXT)),
    params(user(TEXT), assistant(USE_A), user(RESULT_A)),
    params(user(TEXT), {"role": "assistant", "content": USE_A}, {"role": "user", "content": RESULT_A}),
    params(user(TEXT), assistant(TEXT, USE_A, USE_B), user(RESULT_B, RESULT_A), assistant(TEXT)),
    params(user(TEXT), assistant(USE_A), user(RESULT_A), assistant(USE_A), user(RESULT_A)),
    params(user()),
]


@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_what_may_be_asked(conversation: dict[str, Any]) -> None:  # E-08
    types.CreateMessageRequestParams.model_validate(conversation)
    check_sampling(conversation)


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ([user(TEXT), assistant(USE_A)], PAIRED),
        ([user(TEXT), assistant(USE_A), user(TEXT)], PAIRED),
        ([user(TEXT), assistant(USE_A), assistant(TEXT), user(RESULT_A)], PAIRED),
        ([user(TEXT), assistant(USE_A, USE_B), user(RESULT_A)], PAIRED),
        ([user(TEXT), assistant(USE_A, USE_B), user(RESULT_A), user(RESULT_B)], PAIRED),
        ([user(TEXT), assistant(USE_A), user(RESULT_A, RESULT_A)], PAIRED),
        ([user(TEXT), assistant(USE_A), user(RESULT_B)], PAIRED),
        ([user(RESULT_A)], PAIRED),
        ([user(TEXT), assistant(USE_A), user(RESULT_A), user(RESULT_A)], PAIRED),
        ([user(TEXT), assistant(USE_A), user(RESULT_A, TEXT)], ALONE),
        ([user(TEXT), assistant(USE_A), assistant(RESULT_A)], ALONE),
        ([user(USE_A), user(RESULT_A)], "^only an assistant uses tools$"),
    ],
)
def test_each_use_of_a_tool_has_its_result(messages: list[Any], fault: str) -> None:  # E-08
    with pytest.raises(ValueError, match=fault):
        check_sampling(params(*messages))


@pytest.mark.parametrize("tokens", [None, 0, -1, True, "100", 1.5])
def test_there_is_a_bound(tokens: Any) -> None:
    with pytest.raises(ValueError, match=r"^maxTokens must be a whole number, 1 or more$"):
        check_sampling(params(user(TEXT), maxTokens=tokens))


@pytest.mark.parametrize("messages", [None, {}, "Hello", []])
def test_there_is_a_message(messages: Any) -> None:
    with pytest.raises(ValueError, match=r"^messages must be a list with a message in it$"):
        check_sampling({"messages": messages, "maxTokens": 1})


BAD_MESSAGES: list[Any] = [
    (None, "role: "),
    ("Hello", "role: "),
    ({"content": TEXT}, "role: "),
    ({"role": "system", "content": TEXT}, "role: "),
    ({"role": "user"}, "content: "),
    ({"role": "user", "content": "Hello"}, "content: "),
    ({"role": "user", "content": {}}, "content: "),
    ({"role": "user", "content": {"type": 1}}, "content: "),
    (user(TEXT, None), "content: "),
    (assistant({"type": "tool_use"}), "content: "),
    (assistant(USE_A | {"id": 1}), "content: "),
    (user({"type": "tool_result", "id": "a"}), "content: "),
]


@pytest.mark.parametrize(("message", "fault"), BAD_MESSAGES)
def test_a_message_has_a_role_and_content(message: Any, fault: str) -> None:
    with pytest.raises(ValueError, match=f"^{fault}"):
        check_sampling(params(message))


@pytest.mark.parametrize(
    ("asked", "needed"),
    [
        (params(user(TEXT)), ["sampling"]),
        (params(user(TEXT), tools=[]), ["sampling", "sampling.tools"]),
        (params(user(TEXT), toolChoice={"mode": "none"}), ["sampling", "sampling.tools"]),
        (params(user(TEXT), assistant(USE_A), user(RESULT_A)), ["sampling", "sampling.tools"]),
        (params(user(TEXT), includeContext="none"), ["sampling"]),
        (params(user(TEXT), includeContext="thisServer"), ["sampling", "sampling.context"]),
        (params(user(TEXT), includeContext="allServers", tools=[]), ["sampling", "sampling.tools", "sampling.context"]),
    ],
)
def test_what_the_client_must_have_declared(asked: dict[str, Any], needed: list[str]) -> None:  # E-08
    assert needed_capabilities(asked) == needed


@pytest.mark.parametrize("content", [TEXT, [TEXT], [USE_A, USE_B]])
def test_an_answer(content: Any) -> None:
    result = {"role": "assistant", "content": content, "model": "m", "stopReason": "endTurn"}
    types.CreateMessageResultWithTools.model_validate(result)
    check_sampled(result)


@pytest.mark.parametrize(
    ("result", "fault"),
    [
        (None, "the result must be an object"),
        ([], "the result must be an object"),
        ({"role": "assistant", "content": TEXT}, "model: must be a text"),
        ({"role": "robot", "content": TEXT, "model": "m"}, "role: must be user or assistant"),
        ({"role": "assistant", "content": "x", "model": "m"}, "content: must be a content block, or a list of them"),
    ],
)
def test_what_is_no_answer(result: Any, fault: str) -> None:
    with pytest.raises(InvalidAnswer) as refusal:
        check_sampled(result)
    assert str(refusal.value) == fault
