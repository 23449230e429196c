"""What a task has its client's model write."""

from typing import Any

import pytest

from tests.wire.client import RELATED_TASK, Client, Message

SAMPLING: dict[str, Any] = {"sampling": {}}
TOOLS: dict[str, Any] = {"sampling": {"tools": {}}}
TEXT = {"role": "assistant", "content": {"type": "text", "text": "Ahoy"}, "model": "parrot", "stopReason": "endTurn"}
SEARCH = {"name": "search", "inputSchema": {"type": "object"}}
USE = {"type": "tool_use", "id": "use-1", "name": "search", "input": {"q": "x"}}
RESULT = {"type": "tool_result", "toolUseId": "use-1", "content": [{"type": "text", "text": "found"}]}
ASK: Message = {"role": "user", "content": {"type": "text", "text": "Greet."}}


async def sample(client: Client, *arguments: Any, answer: object) -> tuple[Message, Any]:
    """What a client was asked, and what came of the step."""
    task_id = await client.script(["sample", *arguments])
    async with client.waiting_for(task_id, node=1) as stream:
        asked = await stream.message()
        while asked["method"] != "sampling/createMessage":
            asked = await stream.message()
        assert asked["params"].pop("_meta") == {RELATED_TASK: {"taskId": task_id}}
        assert await client.status(task_id) == "input_required"
        assert await client.answer(asked, answer, node=0) == 202
        result = (await stream.rest())[-1]["result"]
    return asked["params"], result["structuredContent"]["result"][0]


async def refuse(client: Client, *arguments: Any) -> str:
    """What a tool is told that may not ask this."""
    task_id = await client.script(["sample", *arguments])
    result = await client.result("tasks/result", {"taskId": task_id})
    assert result["isError"]
    return str(result["content"][0]["text"])


async def test_a_text(alice: Client) -> None:
    """T-37, T-38, T-53: asked on one node, answered through the other."""
    await alice.open(SAMPLING)
    params, sampled = await sample(alice, "Greet.", 10, answer=TEXT)
    assert params == {"messages": [ASK], "maxTokens": 10}
    assert sampled == TEXT


async def test_all_that_can_be_asked(alice: Client) -> None:
    """Parameters by the names that they have on the wire."""
    await alice.open({"sampling": {"context": {}}})
    more = {"systemPrompt": "A parrot.", "temperature": 0.5, "stopSequences": ["."], "includeContext": "thisServer"}
    params, _ = await sample(alice, [ASK], 10, more, answer=TEXT)
    assert params == {"messages": [ASK], "maxTokens": 10} | more


async def test_tools(alice: Client) -> None:
    """E-08: for a client that declared them; each use is answered by the next message, which holds nothing else."""
    await alice.open(TOOLS)
    more = {"tools": [SEARCH], "toolChoice": {"mode": "auto"}}
    used = {"role": "assistant", "content": [USE], "model": "parrot", "stopReason": "toolUse"}
    params, sampled = await sample(alice, [ASK], 10, more, answer=used)
    assert (params["tools"], params["toolChoice"], sampled) == ([SEARCH], {"mode": "auto"}, used)
    messages = [ASK, {"role": "assistant", "content": [USE]}, {"role": "user", "content": [RESULT]}]
    params, sampled = await sample(alice, messages, 10, more, answer=TEXT)
    assert (params["messages"], sampled) == (messages, TEXT)


@pytest.mark.parametrize(
    ("capabilities", "arguments", "needed"),
    [
        ({}, ["Greet.", 10], "sampling"),
        ({"elicitation": {}}, ["Greet.", 10], "sampling"),
        (SAMPLING, [[ASK], 10, {"tools": [SEARCH]}], "sampling.tools"),
        (SAMPLING, [[ASK], 10, {"toolChoice": {"mode": "none"}}], "sampling.tools"),
        (SAMPLING, [[ASK], 10, {"includeContext": "allServers"}], "sampling.context"),
        (
            SAMPLING,
            [[ASK, {"role": "assistant", "content": USE}, {"role": "user", "content": RESULT}], 10],
            "sampling.tools",
        ),
    ],
)
async def test_what_the_client_did_not_declare(
    alice: Client, capabilities: Any, arguments: list[Any], needed: str
) -> None:
    """E-08, L-02: the tool is told at once, and nothing is asked."""
    await alice.open(capabilities)
    assert await refuse(alice, *arguments) == f"The client does not support {needed}, which this tool needs"


@pytest.mark.parametrize(
    "messages",
    [
        [ASK, {"role": "assistant", "content": [USE]}],
        [ASK, {"role": "user", "content": [RESULT]}],
        [ASK, {"role": "assistant", "content": [USE]}, {"role": "user", "content": [RESULT, ASK["content"]]}],
        [ASK, {"role": "assistant", "content": [USE]}, {"role": "assistant", "content": [RESULT]}],
        [],
    ],
)
async def test_messages_that_make_no_sense(alice: Client, messages: list[Any]) -> None:
    """E-08: nothing is asked."""
    await alice.open(TOOLS)
    assert (await refuse(alice, messages, 10)).startswith("Tool 'talk' failed: ValueError")


async def test_answers_that_do_not_fit(alice: Client) -> None:
    """They are accepted, and change nothing."""
    await alice.open(SAMPLING)
    task_id = await alice.script(["sample", "Greet.", 10])
    async with alice.waiting_for(task_id) as stream:
        asked = await stream.message()
        while asked["method"] != "sampling/createMessage":
            asked = await stream.message()
        wrong_ones: list[object] = [{}, {"role": "user"}, {**TEXT, "model": 1}, {**TEXT, "content": "Ahoy"}, None, []]
        for wrong in wrong_ones:
            assert await alice.answer(asked, wrong, node=1) == 202
            assert await alice.status(task_id) == "input_required"
        assert await alice.answer(asked, TEXT, node=1) == 202
        assert (await stream.rest())[-1]["result"]["structuredContent"] == {"result": [TEXT]}


async def test_a_plain_call_samples(alice: Client) -> None:
    """T-53: without a task to name."""
    await alice.open(SAMPLING)
    async with alice.calling("talk", {"script": [["sample", "Greet.", 10]]}) as stream:
        asked = await stream.message()
        assert asked["params"] == {"messages": [ASK], "maxTokens": 10}
        assert await alice.answer(asked, TEXT, node=1) == 202
        (response,) = await stream.rest()
    assert response["result"]["structuredContent"] == {"result": [TEXT]}
